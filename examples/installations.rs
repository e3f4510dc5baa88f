//! How do I serve many customers in one process, when each has its own installation of the suite?
//!
//! Dependencies: sdk-crm and tokio (features `macros` and `rt-multi-thread`). The demonstration starts sdk-reference-server
//! for each customer; a service reads the settings of its customers from a database.

use std::collections::HashMap;

use sdk_crm::{Client, Error, Suite};
use sdk_reference_server::{Operation, ReferenceServer};

/// The CRM of each customer. A suite and its client take a few KB, so thousands of customers fit into one process. If customers
/// come and go at run time, put an `RwLock` around it.
#[derive(Default)]
struct Customers {
    clients: HashMap<String, Client>,
    first: Option<Suite>,
}

impl Customers {
    /// Adds a customer, or replaces one whose settings have changed. The settings have the names of the `SUITE_` variables.
    /// Nothing is sent.
    fn add(&mut self, name: &str, settings: Vec<(String, String)>) -> Result<(), Error> {
        // The label is in errors and traces.
        let mut builder = Suite::builder().label(name).variables(settings);
        if let Some(first) = &self.first {
            // All suites share the connections of the first one. Tokens, retry budgets and limits stay separate.
            builder = builder.transport_of(first);
        }
        let suite = builder.build()?;
        self.clients.insert(name.to_owned(), Client::new(&suite)?);
        self.first.get_or_insert(suite);
        Ok(())
    }

    /// The client of a customer, for the handler of a request. It shares everything with the stored client.
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
    // One installation is down. The others don't notice.
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
