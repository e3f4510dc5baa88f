//! How do I serve many customers in one process, when each has its own installation of the suite?
//!
//! Dependencies: sdk-crm and tokio (features `macros` and `rt-multi-thread`). This demo starts one sdk-reference-server
//! for each customer. A real service reads its customers' settings from a database.

use std::collections::HashMap;

use sdk_crm::{Client, Error, Suite};
use sdk_reference_server::{Operation, ReferenceServer};

/// The CRM client of each customer. A suite and its client take a few KB, so thousands of customers fit into one
/// process. If you add or remove customers at run time, put this map behind an `RwLock`.
#[derive(Default)]
struct Customers {
    clients: HashMap<String, Client>,
    first: Option<Suite>,
}

impl Customers {
    /// Adds a customer, or replaces a customer whose settings have changed. The settings use the names of the `SUITE_`
    /// variables. This sends nothing.
    fn add(&mut self, name: &str, settings: Vec<(String, String)>) -> Result<(), Error> {
        // Errors and traces contain the label.
        let mut builder = Suite::builder().label(name).variables(settings);
        if let Some(first) = &self.first {
            // All suites share the connections of the first suite. Tokens, retry budgets and limits stay separate.
            builder = builder.transport_of(first);
        }
        let suite = builder.build()?;
        self.clients.insert(name.to_owned(), Client::new(&suite)?);
        self.first.get_or_insert(suite);
        Ok(())
    }

    /// Returns the client of a customer, for use in a request handler. The clone shares its state with the stored
    /// client.
    fn crm(&self, name: &str) -> Option<Client> {
        self.clients.get(name).cloned()
    }
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let mut customers = Customers::default();
    let mut servers = Vec::new();
    for name in ["acme", "globex", "initech"] {
        let server = ReferenceServer::start().await;
        customers.add(name, server.environment())?;
        servers.push(server);
    }
    // One installation is down. This doesn't affect the others.
    servers[1].fault(Operation::GetToday).status(503);

    for name in ["acme", "globex", "initech", "umbrella"] {
        let Some(crm) = customers.crm(name) else {
            println!("{name}: no such customer");
            continue;
        };
        match crm.today().get().await {
            Ok(today) => println!("{name}: {} in the queue", today.attention.len()),
            Err(error) => println!("{error}"),
        }
    }
    Ok(())
}
