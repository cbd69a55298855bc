//! Routes JSON-RPC messages between client sessions and the processes of a server.
//!
//! This crate owns who is meant by a message: sessions, the ids and tokens under which requests travel, which client a
//! process asks or tells something, what becomes of requests when a process ends, and what is remembered of a server
//! while none of its processes runs. When a process runs is the supervisor's affair (`kennel-supervisor`); how clients
//! connect is the gateway's.
//!
//! # The way of a request
//!
//! A door gives a client's [`Message`](kennel_wire::Message) to its [`Session`], with the [`Mailbox`] where what
//! belongs to it should arrive. The session's exchange gives the request a number of its own, also as its progress
//! token, notes who asked, and writes it to the process, or has it wait for one. What the process says goes the other
//! way: answers and progress by that number; requests and notifications, which on a pipe do not say whom they are for,
//! to the one client it can be.
//!
//! # What is changed in a message
//!
//! | message | changed |
//! |---|---|
//! | a request, either way | `id`, and `params._meta.progressToken` if there is one |
//! | an answer, either way | `id` |
//! | `notifications/progress` | `params.progressToken` |
//! | `notifications/cancelled` | `params.requestId` |
//! | `logging/setLevel`, if another client of the process wants more | `params.level` |
//! | the answer to `initialize` | `capabilities.{tools,prompts,resources}.listChanged`; for clients that share a process `protocolVersion` |
//! | the answer to `tasks/list`, where clients share a process | what is not the client's own is left out of `tasks` |
//! | the result of a tool that is larger than [`Limits::result_bytes`] | replaced by a link to where it is kept |
//!
//! Where client and process are of different eras (`dialect`), moreover:
//!
//! | message | changed |
//! |---|---|
//! | a modern request to a process of the old era | what `params._meta` says of its sender, `inputResponses` and `requestState` are left out |
//! | a request of the old era to a modern process | who asks is put into `params._meta` |
//! | an answer to a modern client | `resultType`, `serverInfo`, and for lists and resources `ttlMs` and `cacheScope` are added; -32002 becomes -32602 |
//! | an answer to a client of the old era | -32602 for a resource becomes -32002 |
//! | notifications on a stream of `subscriptions/listen` | its id in `params._meta` |
//!
//! Line ends between tokens become spaces on the way to a process. Every other byte stays as it was.
#![forbid(unsafe_code)]

mod announce;
mod answers;
mod ask;
mod audit;
mod backward;
mod book;
mod callers;
mod catalog;
mod client;
mod dialect;
mod endpoint;
mod exchange;
mod fault;
mod filter;
mod forward;
mod front;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod hub;
mod level;
mod listens;
mod mailbox;
mod mirrored;
mod modern;
mod observer;
mod owners;
mod pending;
mod places;
mod pool;
mod principal;
mod process;
mod purposes;
mod results;
mod retries;
mod rounds;
mod seal;
pub mod search;
mod session;
mod settings;
mod skipped;
mod standing;
mod status;
mod succession;
mod surveys;
mod sync;
mod tasks;
mod trial;
mod union;
mod withdraw;

pub use audit::{Audit, AuditedArguments};
pub use callers::{Asked, Caller};
pub use endpoint::{Endpoint, EndpointSession, PastSession};
pub use hub::{Hub, Refused, RefusedReason};
pub use mailbox::{Attached, Mailbox, MailboxLimits, Outgoing, OutgoingKind};
pub use mirrored::{HeaderParameter, HeaderParameterKind};
pub use observer::{Observer, Unobserved};
pub use principal::{Principal, SessionId};
pub use session::Session;
pub use settings::{CatalogPlace, Limits, ProcessModel, ServerSettings, Timeouts};
pub use status::{EraName, InstanceStatus, Metric, MetricKind, Readiness, Status};
pub use union::{
    AsTheyAre, MemberSettings, Naming, OfferedServer, OfferedTool, Presentation, Presented, Surface, Union,
    UnionSession, UnionSettings,
};
