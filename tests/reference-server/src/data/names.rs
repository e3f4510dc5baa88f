//! Fictitious or very common names of people, companies and work.

pub(super) const GIVEN: [&str; 48] = list(
    "Ann, Amara, Anders, Beatriz, Benno, Chiara, Chidi, Clara, Daniel, Defne, Elena, Emil, \
     Farah, Felix, Greta, Hana, Henrik, Ines, Ivo, Jana, Jonas, Kofi, Lars, Leila, Lucía, \
     Maren, Mateo, Mei, Mila, Nadia, Niko, Noor, Olga, Oscar, Priya, Quentin, Rafael, Rosa, \
     Samir, Sofie, Tariq, Thea, Tomás, Uma, Viktor, Wanda, Yusuf, Zoë",
);

pub(super) const FAMILY: [&str; 52] = list(
    "Abe, Adeyemi, Almeida, Andersen, Bauer, Becker, Bianchi, Brandt, Castro, Chen, Costa, \
     Dahl, Demir, Dubois, Eriksen, Fischer, Fontaine, García, Haddad, Hansen, Horvat, \
     Ibrahim, Ito, Jansen, Keller, Kowalski, Laurent, Lindqvist, Marino, Meyer, Moreau, \
     Müller, Nakamura, Novák, Nwosu, O'Brien, Okafor, Olsen, Papadakis, Patel, Petrov, \
     Rossi, Sato, Schmidt, Silva, Sørensen, Tanaka, Vargas, Virtanen, Weber, Yılmaz, Zimmer",
);

pub(super) const COMPANY: [&str; 40] = list(
    "Alder, Amber, Arrow, Aspen, Basalt, Beacon, Birch, Cedar, Cobalt, Compass, Copper, \
     Coral, Delta, Ember, Falcon, Fjord, Granite, Harbour, Heron, Indigo, Iris, Juniper, \
     Kestrel, Lantern, Larch, Maple, Meridian, Moss, North, Onyx, Orchard, Quarry, Raven, \
     Ridge, Saffron, Sparrow, Summit, Tidal, Willow, Zephyr",
);

pub(super) const TRADE: [&str; 16] = list(
    "Analytics, Bakeries, Components, Design, Energy, Foods, Freight, Health, Insurance, \
     Instruments, Logistics, Marine, Optics, Robotics, Textiles, Works",
);

pub(super) const LEGAL_FORM: [&str; 6] = list("AB, AG, GmbH, Ltd, SA, SpA");

pub(super) const CITY: [&str; 16] = list(
    "Antwerp, Athens, Bilbao, Gdańsk, Graz, Hamburg, Izmir, Lyon, Malmö, Oslo, Porto, Riga, \
     Tampere, Turin, Utrecht, Zürich",
);

pub(super) const JOB: [&str; 10] = list(
    "Buyer, Chief Executive, Controller, Engineer, Head of Operations, IT Lead, Office \
     Manager, Plant Manager, Project Lead, Sales Director",
);

pub(super) const NEED: [&str; 14] = list(
    "Audit of the data platform, Booking portal, Document archive, Field service app, \
     Forecasting pilot, Invoice automation, Migration of the warehouse, Planning workshop, \
     Pricing model, Quality dashboard, Replacement of the intranet, Sensor rollout, \
     Supplier onboarding, Training programme",
);

pub(super) const CHORE: [&str; 12] = list(
    "Agree on the next step, Ask for the missing figures, Book the workshop room, Call \
     back, Check the references, Draft the proposal, Follow up on the offer, Introduce the \
     delivery lead, Prepare the demo, Review the contract, Send the minutes, Update the \
     estimate",
);

pub(super) const MOMENT: [(&str, &str); 8] = [
    ("call", "Spoke on the phone"),
    ("email_received", "Wrote to us"),
    ("email_sent", "We wrote"),
    ("meeting", "Met in person"),
    ("note", "A note was taken"),
    ("opportunity", "An opportunity moved"),
    ("task", "A task was completed"),
    ("video_call", "Spoke on video"),
];

pub(super) const COLLEAGUE: [&str; 12] = list(
    "Ada Winther, Bruno Serra, Carla Nyberg, Dario Kaya, Esther Boateng, Finn Gallagher, \
     Gita Rao, Hugo Martel, Isla Reid, Jun Mori, Katya Orlova, Luis Prieto",
);

/// Splits a list at each comma and space. Fails to compile unless the list has `N` names.
const fn list<const N: usize>(text: &'static str) -> [&'static str; N] {
    let mut names = [""; N];
    let (mut left, mut place) = (text, 0);
    while !left.is_empty() {
        let mut end = 0;
        while end < left.len() && left.as_bytes()[end] != b',' {
            end += 1;
        }
        (names[place], left) = left.split_at(end);
        left = if left.is_empty() {
            left
        } else {
            left.split_at(2).1
        };
        place += 1;
    }
    assert!(place == N);
    names
}
