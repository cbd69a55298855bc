//! The transport of 2024-11-05: a stream of events, on which the server first names an address for messages, and on which
//! everything comes that it says.

use crate::address::{Address, Elsewhere};
use crate::answer::{Answer, EventStream};
use crate::fault::Fault;
use crate::wire::Wire;
use bytes::Bytes;
use http::HeaderMap;
use kennel_wire::Id;
use tokio::time::timeout;

impl Wire {
    /// Opens the stream; returns it with the address for messages.
    pub(crate) async fn connect_by_events(&self) -> Result<(Address, EventStream), Fault> {
        let response = self.client.stream(HeaderMap::new()).await?;
        let Answer::Events(mut stream) = self.reading().read(response).await? else {
            return Err(self.reading().no_message("it is no stream of events".to_owned()));
        };
        let naming = async {
            loop {
                match self.reading().next(&mut stream).await? {
                    Some(event) if event.kind == "endpoint" => return Ok(event.data),
                    Some(_) => {}
                    None => return Err(Fault::StreamEnded { origin: self.origin.clone() }),
                }
            }
        };
        let endpoint = |problem: String| Fault::Endpoint { origin: self.origin.clone(), problem };
        let Ok(named) = timeout(self.limits.accept, naming).await else {
            return Err(Fault::Slow { origin: self.origin.clone(), within: self.limits.accept });
        };
        let to =
            self.client.address().within_origin(&String::from_utf8_lossy(&named?)).map_err(|error| match error {
                Elsewhere::Unreadable => endpoint("cannot be read".to_owned()),
                Elsewhere::Other(origin) => endpoint(format!("belongs to {origin}; credentials do not go there")),
            })?;
        Ok((to, stream))
    }

    /// Holds the conversation, beginning with this request, until the stream ends.
    pub(crate) async fn converse_over(
        &self,
        to: Address,
        mut stream: EventStream,
        id: &Id,
        body: Bytes,
    ) -> Result<(), Fault> {
        let _ = self.endpoint.set(to);
        let opening = async {
            match self.tell(HeaderMap::new(), body).await {
                Ok(()) => std::future::pending().await,
                Err(fault) => fault,
            }
        };
        let hearing = async {
            loop {
                match self.reading().next(&mut stream).await {
                    Ok(Some(event)) => self.take(event, Some(id)).await,
                    Ok(None) | Err(Fault::Lost { .. }) => return Fault::StreamEnded { origin: self.origin.clone() },
                    Err(fault) => return fault,
                }
            }
        };
        let fault = tokio::select! {
            fault = opening => fault,
            fault = hearing => fault,
        };
        if self.open.contains(id) {
            return Err(fault);
        }
        // Nothing is heard any more, whatever it was.
        self.end(fault);
        Ok(())
    }
}
