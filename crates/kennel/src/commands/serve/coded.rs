//! Owns code mode over the servers of one union.

use crate::commands::coding::{Coding, NAME};
use kennel_code::Policy;
use kennel_config::{Approval, ViewName};
use kennel_hub::{AsTheyAre, Endpoint, Hub, MemberSettings, Union};
use serde_json::json;
use std::sync::Arc;

/// Code over the servers of a union.
pub(super) struct Coded {
    coding: Arc<Coding>,
    policy: Policy,
    pub(super) hub: Hub,
}

impl Coded {
    /// Code over these servers, those of a view if one is named; nothing where it cannot be had, which is said.
    pub(super) fn new(
        coding: &Arc<Coding>,
        view: Option<&ViewName>,
        servers: &Union,
        approve: Option<Approval>,
    ) -> Option<Arc<Self>> {
        let policy = Policy::new(coding.approval(approve));
        match coding.hub(view.map(ViewName::as_str), servers, &policy) {
            Ok(hub) => Some(Arc::new(Self { coding: Arc::clone(coding), policy, hub })),
            Err(problem) => {
                coding.console().say("not_served", &format!("code is not served: {problem}"), json!({}));
                None
            }
        }
    }

    /// What was there before, if code is still run as the file says, or what takes its place. Sessions go on there, with
    /// new notebooks, and the former hub is to be ended. What may run without asking holds at once, also for cells that
    /// run; where there is no code any more, nothing may.
    pub(super) fn renewed(
        former: Option<Arc<Self>>,
        coding: Option<&Arc<Coding>>,
        approve: Option<Approval>,
        retired: &mut Vec<Hub>,
        make: impl FnOnce(&Arc<Coding>) -> Option<Arc<Self>>,
    ) -> Option<Arc<Self>> {
        if let Some(former) = &former {
            former.policy.set(coding.map_or(kennel_code::Approval::Deny, |coding| coding.approval(approve)));
        }
        let is_same = |former: &Self| coding.is_some_and(|coding| Arc::ptr_eq(&former.coding, coding));
        if former.as_deref().is_some_and(is_same) {
            return former;
        }
        let successor = coding.and_then(make);
        if let Some(former) = former {
            if let Some(successor) = &successor {
                former.hub.hand_over(&successor.hub);
            }
            retired.push(former.hub.clone());
        }
        successor
    }

    /// As one of many servers.
    pub(super) fn member(&self) -> MemberSettings {
        MemberSettings {
            name: NAME.to_owned(),
            description: Some("Python notebooks in which the tools of the other servers are functions".to_owned()),
            hub: self.hub.clone(),
            presentation: Arc::new(AsTheyAre),
        }
    }

    /// As a server by itself.
    pub(super) fn endpoint(&self) -> Endpoint {
        Endpoint::Server(self.hub.clone())
    }
}
