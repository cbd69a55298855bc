//! Interpreters that are looked for when one is first wanted, and kept ready from then on.

use crate::engine::{CodeEngine, EngineFuture, Interpreter, StartError};
use crate::pool::{Pool, PoolSettings};
use std::pin::Pin;
use std::sync::Arc;
use tokio::sync::OnceCell;

/// An engine to come.
pub type EngineToCome = Pin<Box<dyn Future<Output = Result<Arc<dyn CodeEngine>, StartError>> + Send>>;

/// Keeps interpreters ready from the first time that one is wanted. Cheap to clone.
#[derive(Clone)]
pub(crate) struct LazyPool(Arc<Inner>);

struct Inner {
    find: Box<dyn Fn() -> EngineToCome + Send + Sync>,
    settings: PoolSettings,
    pool: OnceCell<Pool>,
}

impl LazyPool {
    pub(crate) fn new(find: impl Fn() -> EngineToCome + Send + Sync + 'static, settings: PoolSettings) -> Self {
        Self(Arc::new(Inner { find: Box::new(find), settings, pool: OnceCell::new() }))
    }

    /// Has interpreters made ready, if none are yet.
    pub(crate) fn warm(&self) {
        if !self.0.pool.initialized() {
            let pool = self.clone();
            // Whoever wants one hears what is wrong.
            tokio::spawn(async move { drop(pool.pool().await.map(|_| ())) });
        }
    }

    async fn pool(&self) -> Result<&Pool, StartError> {
        let found = async { (self.0.find)().await.map(|engine| Pool::new(engine, self.0.settings)) };
        self.0.pool.get_or_try_init(|| found).await
    }
}

impl CodeEngine for LazyPool {
    fn start(&self) -> EngineFuture<'_, Result<Interpreter, StartError>> {
        Box::pin(async { self.pool().await?.start().await })
    }

    fn describe(&self) -> String {
        self.0.pool.get().map_or_else(|| "nothing yet".to_owned(), Pool::describe)
    }
}
