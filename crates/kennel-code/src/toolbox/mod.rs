//! What the code of one client can use: the servers of a union as that client may use them, and the tools it has saved.
//!
//! To the servers it is a client like any other, with the rights, limits and records of the one whose code runs. What a
//! server asks while it works on a call goes to that client.

mod approval;
mod call;
mod question;
mod saved;
mod shelves;

pub use approval::{Approval, Policy};
pub(crate) use saved::SavedTools;
pub(crate) use shelves::{Shelves, Snapshot};

use crate::docs::{DescribeArguments, Detail, SearchArguments};
use crate::notebook::{
    Ask, AskError, AskErrorKind, CallTool, CellContext, DescribeTools, Host, HostFuture, SearchTools,
};
use crate::owner::Holder;
use crate::server::Client;
use approval::Approvals;
use call::Calls;
use kennel_hub::{
    Endpoint, EndpointSession, Mailbox, MailboxLimits, Outgoing, OutgoingKind, Principal, Union, UnionSession,
};
use kennel_wire::{Id, Message, ProtocolVersion, RawJson, request};
use serde_json::json;
use serde_json::value::RawValue;
use std::collections::HashSet;
use std::sync::Arc;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// What the code of one client can use.
pub(crate) struct Toolbox {
    union: Union,
    holder: Holder,
    client: Arc<Client>,
    shelves: Arc<Shelves>,
    saved: SavedTools,
    approvals: Approvals,
    /// Cancelled when the conversation is over: nothing is done in its name any more.
    closed: CancellationToken,
    session: OnceCell<Session>,
}

/// The session with the servers.
struct Session {
    union: UnionSession,
    calls: Calls,
    /// Passes on what belongs to no call.
    _listening: AbortOnDropHandle<()>,
}

impl Toolbox {
    pub(crate) fn new(
        union: Union,
        holder: Holder,
        client: Arc<Client>,
        shelves: Arc<Shelves>,
        saved: SavedTools,
        policy: Policy,
    ) -> Self {
        let approvals = Approvals::new(policy);
        let closed = CancellationToken::new();
        Self { union, holder, client, shelves, saved, approvals, closed, session: OnceCell::new() }
    }

    /// Whose code it is.
    pub(crate) fn holder(&self) -> &Holder {
        &self.holder
    }

    /// Ends what is worked on, and refuses what is asked from now on.
    pub(crate) fn close(&self) {
        self.closed.cancel();
    }

    /// The tools that were saved.
    pub(crate) fn saved(&self) -> &SavedTools {
        &self.saved
    }

    /// All servers as they are now.
    pub(crate) async fn snapshot(&self) -> Result<Arc<Snapshot>, AskError> {
        let offered = self.session().await?.union.offered().await;
        Ok(self.shelves.snapshot(offered).await)
    }

    /// Takes the answer of the client to something that a server has asked.
    pub(crate) fn answered(&self, message: Message) {
        if let Some(session) = self.session.get() {
            session.calls.tell(message);
        }
    }

    async fn session(&self) -> Result<&Session, AskError> {
        self.session.get_or_try_init(|| self.open()).await
    }

    async fn open(&self) -> Result<Session, AskError> {
        let failed =
            |text: &str| AskError::new(AskErrorKind::Protocol, format!("the servers cannot be reached: {text}"));
        let params = self.client.introduction().unwrap_or_else(RawJson::empty_object);
        let version = RawJson::string(ProtocolVersion::LATEST_LEGACY.as_str());
        let mut members = params.members();
        members.retain(|(name, _)| name != "protocolVersion" && name != "_meta");
        let members = members.iter().map(|(name, value)| (name.as_str(), value));
        let params = RawJson::object(members.chain([("protocolVersion", &version)]));
        let message = Message::parse(request(&Id::number(0), "initialize", &params));
        let message = message.map_err(|error| failed(&error.to_string()))?;
        let unsolicited = Mailbox::new(MailboxLimits::default());
        let user = Principal::new(self.holder.owner().user());
        let opened = Endpoint::Union(self.union.clone()).initialize(&user, message, Arc::clone(&unsolicited)).await;
        let Ok((EndpointSession::Union(union), _)) = opened else { return Err(failed("no session could be opened")) };
        let client = Arc::clone(&self.client);
        let listening = tokio::spawn(async move {
            let _attached = unsolicited.attach();
            while let Some(Outgoing { message, kind }) = unsolicited.next().await {
                match kind {
                    OutgoingKind::Request => client.say(message).await,
                    // Lists are looked at before each cell; logs of servers are for their operator.
                    OutgoingKind::Notification | OutgoingKind::Response | OutgoingKind::Withdrawn => {}
                }
            }
        });
        let calls = Calls::new(EndpointSession::Union(union.clone()), Arc::clone(&self.client));
        Ok(Session { union, calls, _listening: AbortOnDropHandle::new(listening) })
    }

    async fn call(&self, cell: &CellContext, wanted: CallTool) -> Result<Box<RawValue>, AskError> {
        let snapshot = self.snapshot().await?;
        let tool = snapshot.tool(&wanted.alias, &wanted.tool)?;
        let arguments = wanted.arguments.as_deref().map_or("{}", RawValue::get);
        if !tool.read_only {
            self.approvals.check(&self.client, cell, &wanted.alias, &wanted.tool, arguments).await?;
        }
        self.session().await?.calls.call(&tool.called, arguments, &cell.patience).await
    }

    async fn search(&self, cell: &CellContext, wanted: SearchTools) -> Result<String, AskError> {
        let snapshot = self.snapshot().await?;
        let SearchTools { query, limit, servers, detail } = wanted;
        let arguments = json!({ "query": query, "limit": limit, "servers": servers, "detail": detail }).to_string();
        let arguments = RawJson::parse(arguments).map_err(|error| invalid(error.to_string()))?;
        let arguments = SearchArguments::read(Some(&arguments)).map_err(|error| invalid(error.to_string()))?;
        let catalog = snapshot.catalog();
        let usable = catalog.servers().filter(|(alias, _)| cell.may_use(alias));
        let usable: HashSet<&str> = usable.map(|(_, server)| server.name()).collect();
        Ok(catalog.only(|name| usable.contains(name)).search(&arguments))
    }

    async fn describe(&self, wanted: DescribeTools) -> Result<String, AskError> {
        let snapshot = self.snapshot().await?;
        let tools = match wanted.tools {
            Some(tools) => tools.iter().map(|tool| format!("{}.{tool}", wanted.alias)).collect(),
            None => vec![format!("{}.*", wanted.alias)],
        };
        Ok(snapshot.catalog().describe(&DescribeArguments { tools, detail: Detail::Full }))
    }

    async fn answer(&self, cell: &CellContext, ask: Ask) -> Result<Box<RawValue>, AskError> {
        let owner = self.holder.owner();
        match ask {
            Ask::CallTool(wanted) => self.call(cell, wanted).await,
            Ask::SearchTools(wanted) => self.search(cell, wanted).await.and_then(|text| raw(&text)),
            Ask::DescribeTools(wanted) => self.describe(wanted).await.and_then(|text| raw(&text)),
            Ask::SaveTool(tool) => self.saved.save(owner, tool).await.and_then(|()| raw(&true)),
            Ask::RemoveTool(tool) => self.saved.remove(owner, &tool.name).await.and_then(|was_there| raw(&was_there)),
            Ask::ListSaved => self.saved.listed(owner).await.and_then(|listed| raw(&listed)),
        }
    }
}

impl Host for Toolbox {
    fn ask<'a>(&'a self, cell: &'a CellContext, ask: Ask) -> HostFuture<'a, Result<Box<RawValue>, AskError>> {
        Box::pin(async move {
            let answered = self.closed.run_until_cancelled(self.answer(cell, ask)).await;
            answered.unwrap_or_else(|| {
                let text =
                    "the conversation that this code belongs to is over, and nothing is called in its name any more";
                Err(AskError::new(AskErrorKind::Refused, text))
            })
        })
    }
}

fn invalid(text: String) -> AskError {
    AskError::new(AskErrorKind::Protocol, text)
}

fn raw<T: serde::Serialize + ?Sized>(value: &T) -> Result<Box<RawValue>, AskError> {
    serde_json::value::to_raw_value(value).map_err(|error| AskError::new(AskErrorKind::Protocol, error.to_string()))
}
