//! What servers offer: the rows of catalogs.

use crate::time::{ago, to_millis};
use bytes::Bytes;
use rusqlite::{Connection, params};
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

/// How often it is noted that a catalog was read.
const USE_INTERVAL: Duration = Duration::from_hours(24);

/// All that is remembered of one server. Names and bytes mean what the hub says they do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Catalog {
    /// What is known of the eras that the server speaks, by their names.
    pub eras: BTreeMap<String, String>,
    /// What it offers, by the kind of client.
    pub offers: BTreeMap<String, Offer>,
}

/// What a server offers to one kind of client.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Offer {
    /// The era in which it introduced itself.
    pub era: String,
    /// The protocol version that it chose.
    pub version: String,
    /// How it introduced itself: its answer, with its name and capabilities.
    pub introduction: Bytes,
    /// The pages of its lists, by their names.
    pub lists: BTreeMap<String, Vec<Bytes>>,
}

/// Puts the catalog of a server in place of the one that is there.
pub(crate) fn put(connection: &Connection, server: &str, catalog: &Catalog) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM catalogs WHERE server = ?1", [server])?;
    let now = to_millis(SystemTime::now());
    connection.execute("INSERT INTO catalogs (server, changed, used) VALUES (?1, ?2, ?2)", params![server, now])?;
    let mut eras = connection.prepare("INSERT INTO eras (server, era, knowledge) VALUES (?1, ?2, ?3)")?;
    for (era, knowledge) in &catalog.eras {
        eras.execute([server, era, knowledge])?;
    }
    let mut offers = connection
        .prepare("INSERT INTO offers (server, kind, era, version, introduction) VALUES (?1, ?2, ?3, ?4, ?5)")?;
    let mut pages =
        connection.prepare("INSERT INTO pages (server, kind, list, number, page) VALUES (?1, ?2, ?3, ?4, ?5)")?;
    for (kind, offer) in &catalog.offers {
        offers.execute(params![server, kind, offer.era, offer.version, &*offer.introduction])?;
        for (list, contents) in &offer.lists {
            // A list without pages is not the same as no list.
            if contents.is_empty() {
                pages.execute(params![server, kind, list, NO_PAGE, &[0_u8; 0]])?;
            }
            for (number, page) in (0_i64..).zip(contents) {
                pages.execute(params![server, kind, list, number, &**page])?;
            }
        }
    }
    Ok(())
}

/// The number under which a list stands that has no pages.
const NO_PAGE: i64 = -1;

/// The catalog of a server, if there is one.
pub(crate) fn get(connection: &Connection, server: &str) -> rusqlite::Result<Option<Catalog>> {
    // All of it from the same moment, whoever else writes.
    let connection = connection.unchecked_transaction()?;
    let mut catalog = Catalog::default();
    if !connection.prepare("SELECT 1 FROM catalogs WHERE server = ?1")?.exists([server])? {
        return Ok(None);
    }
    let mut eras = connection.prepare("SELECT era, knowledge FROM eras WHERE server = ?1")?;
    for row in eras.query_map([server], |row| Ok((row.get(0)?, row.get(1)?)))? {
        let (era, knowledge) = row?;
        catalog.eras.insert(era, knowledge);
    }
    let mut offers = connection.prepare("SELECT kind, era, version, introduction FROM offers WHERE server = ?1")?;
    let mut rows = offers.query([server])?;
    while let Some(row) = rows.next()? {
        let introduction = row.get::<_, Vec<u8>>(3)?.into();
        let offer = Offer { era: row.get(1)?, version: row.get(2)?, introduction, lists: BTreeMap::new() };
        catalog.offers.insert(row.get(0)?, offer);
    }
    let mut pages = connection
        .prepare("SELECT kind, list, number, page FROM pages WHERE server = ?1 ORDER BY kind, list, number")?;
    let mut rows = pages.query([server])?;
    while let Some(row) = rows.next()? {
        let Some(offer) = catalog.offers.get_mut(&row.get::<_, String>(0)?) else { continue };
        let list = offer.lists.entry(row.get(1)?).or_default();
        if row.get::<_, i64>(2)? != NO_PAGE {
            list.push(row.get::<_, Vec<u8>>(3)?.into());
        }
    }
    Ok(Some(catalog))
}

/// Notes that a catalog was read, unless that was noted lately.
pub(crate) fn used(connection: &Connection, server: &str) -> rusqlite::Result<()> {
    connection.execute(
        "UPDATE catalogs SET used = ?2 WHERE server = ?1 AND used < ?3",
        params![server, to_millis(SystemTime::now()), ago(USE_INTERVAL)],
    )?;
    Ok(())
}

/// Forgets some of the catalogs that nobody has used for so long, and says how many.
pub(crate) fn expire(connection: &Connection, age: Duration, most: u32) -> rusqlite::Result<usize> {
    connection.execute(
        "DELETE FROM catalogs WHERE server IN (SELECT server FROM catalogs WHERE used < ?1 LIMIT ?2)",
        params![ago(age), most],
    )
}
