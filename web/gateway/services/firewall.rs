//! Ruleset of the firewall: applied as one transaction, read back, and reverted unless it is
//! confirmed in time, for it may cut the way to this host.
//!
//! The world has the desired ruleset before the kernel gets it: a gateway that is killed in between
//! reverts when it starts.

use std::path::PathBuf;

use axum::http::StatusCode;
use groundwave_files::hex::hex;
use groundwave_gateway::Snapshot;
use groundwave_gateway::firewall::{
    ApplyRuleset, ConfirmRuleset, ObserveRuleset, RevertRuleset, Ruleset,
};
use groundwave_http::Problem;
use groundwave_http::tag::revision_of;
use groundwave_io_gateway::nft::{Counted, ForeignTable, Listing, Nft, NftError, compile};
use groundwave_netlink::NftWatch;
use sha2::{Digest, Sha256};
use tokio::sync::Mutex;

use super::confirmation::{ConfirmationTime, Divergence};
use super::firewall_diff::{RuleChange, difference};
use super::kernel::absent;
use super::secrets::random;
use super::world::{World, blocking};

/// Firewall of the network namespace of this process.
#[derive(Debug)]
pub struct FirewallService {
    nft: Nft,
    /// One request to the kernel after the other; the listing right after the last transaction.
    applied: Mutex<Option<Listing>>,
    /// Time of the last probe, ns, and its result.
    probed: Mutex<Option<(u64, bool)>>,
}

/// Validity of a probe, ns.
const PROBE_VALID_NS: u64 = 10_000_000_000;

/// Result of a transaction or of its check.
#[derive(Debug)]
pub struct Applied {
    /// Transaction.
    pub nft: String,
    /// Differences from the ruleset before.
    pub diff: Vec<RuleChange>,
    /// Token of the confirmation; `None` for a dry run.
    pub token: Option<String>,
    /// Differences of the kernel from the transaction.
    pub divergence: Vec<Divergence>,
}

/// The kernel beside the desired ruleset.
#[derive(Debug)]
pub struct ReadBack {
    /// Table; `None` without one.
    pub listing: Option<Listing>,
    /// Differences from the desired ruleset.
    pub divergence: Vec<Divergence>,
    /// Tables of others.
    pub foreign: Vec<ForeignTable>,
}

fn failed(err: NftError) -> Problem {
    let detail = err.to_string();
    match err {
        NftError::Absent | NftError::Permission(_) | NftError::Run(_) => absent(detail),
        NftError::Refused(_) => Problem::new(StatusCode::UNPROCESSABLE_ENTITY, detail),
        NftError::Timeout(_) => Problem::unavailable(detail),
        NftError::Decode(_) => Problem::internal(detail),
    }
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token).into()
}

/// The transaction that zones and rules stand for now.
#[must_use]
pub fn staged(view: &Snapshot) -> String {
    let config = &view.config;
    compile(&config.firewall_zones, &config.firewall_rules, &config.networks).json()
}

fn divergences(desired: Option<&Listing>, actual: Option<&Listing>) -> Vec<Divergence> {
    let nothing = Listing::default();
    let all = match (desired, actual) {
        (Some(desired), actual) => desired.differences(actual),
        (None, Some(actual)) => nothing.differences(Some(actual)),
        (None, None) => Vec::new(),
    };
    let pair = |(pointer, desired, actual)| Divergence { pointer, wanted: desired, found: actual };
    all.into_iter().map(pair).collect()
}

impl FirewallService {
    /// Firewall of the network namespace at `netns`; of this process for `None`.
    #[must_use]
    pub fn new(netns: Option<PathBuf>) -> Self {
        Self { nft: Nft::new(netns), applied: Mutex::new(None), probed: Mutex::new(None) }
    }

    async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Nft) -> Result<T, NftError> + Send + 'static,
    ) -> Result<T, Problem> {
        let nft = self.nft.clone();
        blocking(move || work(&nft).map_err(failed)).await
    }

    /// `true` if nftables answers; probed at intervals, because the operation needs no authentication.
    pub async fn is_present(&self, now_ns: u64) -> bool {
        let mut probed = self.probed.lock().await;
        let valid = |at_ns: u64| now_ns.saturating_sub(at_ns) < PROBE_VALID_NS;
        if let Some((_, is_running)) = probed.filter(|(at_ns, _)| valid(*at_ns)) {
            return is_running;
        }
        let is_running = self.ask(Nft::probe).await.is_ok();
        *probed = Some((now_ns, is_running));
        is_running
    }

    /// Subscribes to changes of the ruleset by any program.
    ///
    /// # Errors
    /// When the kernel refuses, which takes CAP_NET_ADMIN.
    pub fn watch(&self) -> std::io::Result<NftWatch> {
        self.nft.watch()
    }

    /// Carries the desired ruleset of the world out, and keeps what the kernel made of it.
    async fn enforce(&self, world: &World, applied: &mut Option<Listing>) -> Result<(), Problem> {
        let view = world.view();
        let desired = view.firewall.desired().map(|ruleset| ruleset.nft.clone());
        *applied = None;
        let listed = self.ask(move |nft| match desired {
            Some(transaction) => nft.apply(&transaction).and_then(|()| nft.list()),
            None => nft.remove().map(|()| None),
        });
        *applied = listed.await?;
        Ok(())
    }

    /// Records how the kernel differs from the desired ruleset.
    async fn record(&self, world: &World, divergence: &[Divergence]) -> Result<(), Problem> {
        let divergence: Vec<_> =
            divergence.iter().map(|difference| difference.pointer.clone()).collect();
        let view = world.view();
        let observed = view.firewall.observed.as_ref();
        if observed.is_some_and(|observed| observed.divergence == divergence) {
            return Ok(());
        }
        world.submit(ObserveRuleset { divergence }).await
    }

    /// Checks the staged ruleset, and makes it the one in force until it is confirmed or reverted.
    ///
    /// # Errors
    /// 409 while another one awaits confirmation, 422 with the reason of nftables, 503 without it.
    pub async fn apply(
        &self,
        world: &World,
        by: &str,
        within: ConfirmationTime,
        is_dry: bool,
    ) -> Result<Applied, Problem> {
        let mut applied = self.applied.lock().await;
        let view = world.view();
        let transaction = staged(&view);
        let checked = transaction.clone();
        self.ask(move |nft| nft.check(&checked)).await?;
        let before = view.firewall.desired().map(|ruleset| ruleset.nft.as_str());
        let diff = difference(before, &transaction);
        if is_dry {
            return Ok(Applied { nft: transaction, diff, token: None, divergence: Vec::new() });
        }
        let bytes: [u8; 16] = random()?;
        let token = hex(&bytes);
        let command = ApplyRuleset {
            ruleset: Ruleset {
                revision: revision_of(&transaction),
                nft: transaction.clone(),
                by: by.to_owned(),
            },
            token_sha256: digest(&token),
            confirm_by_ns: world.wall_ns() + u64::from(within.seconds()) * 1_000_000_000,
        };
        world.submit(command).await?;
        if let Err(problem) = self.enforce(world, &mut applied).await {
            self.undo(world, &mut applied, &token, &problem.detail).await?;
            return Err(problem);
        }
        let listing = self.ask(Nft::list).await?;
        let divergence = divergences(applied.as_ref(), listing.as_ref());
        self.record(world, &divergence).await?;
        Ok(Applied { nft: transaction, diff, token: Some(token), divergence })
    }

    async fn undo(
        &self,
        world: &World,
        applied: &mut Option<Listing>,
        token: &str,
        reason: &str,
    ) -> Result<(), Problem> {
        let command = RevertRuleset { token_sha256: digest(token), reason: reason.to_owned() };
        world.submit(command).await?;
        self.enforce(world, applied).await
    }

    /// Reverts a ruleset unless it was confirmed.
    pub async fn revert(&self, world: &World, token: &str) {
        let mut applied = self.applied.lock().await;
        let view = world.view();
        let pending = view.firewall.pending.as_ref();
        if pending.is_none_or(|pending| pending.token_sha256 != digest(token)) {
            return;
        }
        match self.undo(world, &mut applied, token, "not confirmed").await {
            Ok(()) => tracing::warn!("unconfirmed firewall ruleset reverted"),
            Err(err) => tracing::error!(err = err.detail, "firewall could not be reverted"),
        }
    }

    /// Confirms the ruleset in force.
    ///
    /// # Errors
    /// 404 for an unknown token, 410 when the ruleset was reverted.
    pub async fn confirm(&self, world: &World, token: &str) -> Result<(), Problem> {
        let _turn = self.applied.lock().await;
        let token_sha256 = digest(token);
        if world.view().firewall.reverted == Some(token_sha256) {
            return Err(Problem::new(StatusCode::GONE, "ruleset already reverted"));
        }
        world.submit(ConfirmRuleset { token_sha256 }).await
    }

    /// Reads the kernel back.
    ///
    /// # Errors
    /// 503 without nftables.
    pub async fn read(&self, world: &World) -> Result<ReadBack, Problem> {
        let applied = self.applied.lock().await;
        let (listing, foreign) = self.ask(|nft| Ok((nft.list()?, nft.tables()?))).await?;
        let is_desired = world.view().firewall.desired().is_some();
        let nothing = Listing::default();
        let desired = match &*applied {
            Some(desired) => Some(desired),
            None => is_desired.then_some(&nothing),
        };
        let divergence = divergences(desired, listing.as_ref());
        if is_desired {
            self.record(world, &divergence).await?;
        }
        Ok(ReadBack { listing, divergence, foreign })
    }

    /// Applies the confirmed ruleset again where the kernel has another one; `true` if it did. One that
    /// awaits confirmation stays as it is: its deadline decides.
    ///
    /// # Errors
    /// 503 without nftables, 422 with its reason.
    pub async fn restore(&self, world: &World) -> Result<bool, Problem> {
        let differences = self.read(world).await?.divergence;
        let mut applied = self.applied.lock().await;
        let view = world.view();
        let is_confirmed = view.firewall.pending.is_none() && view.firewall.confirmed.is_some();
        let (Some(first), true) = (differences.first(), is_confirmed) else {
            return Ok(false);
        };
        tracing::warn!(
            first = first.pointer,
            count = differences.len(),
            "another program changed the firewall: the confirmed ruleset is applied again"
        );
        self.enforce(world, &mut applied).await?;
        let listing = self.ask(Nft::list).await?;
        let divergence = divergences(applied.as_ref(), listing.as_ref());
        self.record(world, &divergence).await?;
        Ok(true)
    }

    /// Packets and bytes of a rule of the firewall; `None` where it is not in force.
    #[must_use]
    pub fn counted(listing: Option<&Listing>, rule: uuid::Uuid) -> Option<Counted> {
        listing.and_then(|listing| listing.counted(&rule.to_string()))
    }

    /// The table with its counts, where a ruleset was applied and nftables answers.
    pub async fn listing(&self, world: &World) -> Option<Listing> {
        world.view().firewall.desired()?;
        let _turn = self.applied.lock().await;
        self.ask(Nft::list).await.ok().flatten()
    }

    /// Makes the kernel equal to the confirmed ruleset when the gateway starts; one that awaits
    /// confirmation is reverted.
    pub async fn start(&self, world: &World) {
        let mut applied = self.applied.lock().await;
        let view = world.view();
        if view.firewall.is_untouched() {
            return;
        }
        self.settle(world, &mut applied, "the gateway restarted").await;
    }

    /// Reverts a ruleset that awaits confirmation when the gateway stops.
    pub async fn stop(&self, world: &World) {
        let mut applied = self.applied.lock().await;
        if world.view().firewall.pending.is_some() {
            self.settle(world, &mut applied, "the gateway stopped").await;
        }
    }

    /// Makes the confirmed ruleset the desired one, and the kernel equal to it.
    async fn settle(&self, world: &World, applied: &mut Option<Listing>, reason: &str) {
        let view = world.view();
        if let Some(pending) = &view.firewall.pending {
            let command =
                RevertRuleset { token_sha256: pending.token_sha256, reason: reason.to_owned() };
            if let Err(err) = world.submit(command).await {
                tracing::error!(err = err.detail, "firewall ruleset could not be reverted");
                return;
            }
        }
        if let Err(err) = self.enforce(world, applied).await {
            tracing::error!(err = err.detail, "firewall ruleset could not be applied");
        }
    }
}
