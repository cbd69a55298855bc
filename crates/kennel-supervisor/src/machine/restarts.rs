//! The budget of restarts: how many were made lately, and how many in a row without a success.

use crate::settings::RestartBudget;
use std::collections::VecDeque;
use std::time::Instant;

#[derive(Debug)]
pub(super) struct Restarts {
    budget: RestartBudget,
    /// At most as many as the budget allows.
    lately: VecDeque<Instant>,
    in_a_row: u32,
}

impl Restarts {
    pub(super) fn new(budget: RestartBudget) -> Self {
        Self { budget, lately: VecDeque::new(), in_a_row: 0 }
    }

    /// How many restarts there were since a process proved itself.
    pub(super) fn in_a_row(&self) -> u32 {
        self.in_a_row
    }

    /// Whether no further restart may be made.
    ///
    /// The row counts beside the window, because attempts that take long, such as those with a process that never
    /// answers, would never fill the window and go on for ever.
    pub(super) fn are_spent(&mut self, now: Instant) -> bool {
        while let Some(oldest) = self.lately.front()
            && now.saturating_duration_since(*oldest) >= self.budget.window
        {
            self.lately.pop_front();
        }
        self.lately.len() >= self.budget.count as usize || self.in_a_row >= self.budget.count
    }

    /// A restart is made.
    pub(super) fn made(&mut self, now: Instant) {
        self.lately.push_back(now);
        self.in_a_row = self.in_a_row.saturating_add(1);
    }

    /// A process proved itself: delays begin anew. The window stays, or a process that dies after each first answer
    /// would be restarted for ever.
    pub(super) fn succeeded(&mut self) {
        self.in_a_row = 0;
    }

    /// The operator gives a fresh budget.
    pub(super) fn clear(&mut self) {
        self.lately.clear();
        self.in_a_row = 0;
    }
}
