//! Every kind of message that Kennel itself writes, to processes and to clients of all revisions of the protocol, held
//! against the revision's schema.

mod ledger;
mod modern;
mod sessions;
