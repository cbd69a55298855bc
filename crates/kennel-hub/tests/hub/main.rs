//! A hub over a fake engine, with clients and processes that the tests play: what passes, to whom, and what becomes of
//! it when processes come and go.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod asking;
mod audit;
mod callers;
mod calls;
mod catalogs;
mod concurrency;
mod concurrency_rounds;
mod dying;
mod eras;
mod fidelity;
mod floods;
mod kept;
mod levels;
mod limits;
mod listens;
mod notifications;
mod order;
mod retries;
mod rounds;
mod rules;
mod schemas;
mod sharing;
mod slow;
mod starting;
mod subscriptions;
mod succession;
mod support;
mod tasks;
mod timing;
mod union_asking;
mod union_busy;
mod union_calls;
mod union_changes;
mod union_listens;
mod union_modern;
mod union_names;
mod union_pages;
mod union_resources;
mod union_slow;
mod union_support;
