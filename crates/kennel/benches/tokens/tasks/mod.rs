//! The tasks: from one small call, where nothing can be saved, to many calls with large results.

mod balance;
mod builds;
mod handbook;
mod invoices;
mod restarts;

use crate::task::Task;

/// All of them.
pub(crate) const ALL: [&Task; 5] = [&balance::TASK, &handbook::TASK, &builds::TASK, &restarts::TASK, &invoices::TASK];
