//! Plans: flows whose steps are parsed and whose edges are resolved, and the order of their steps.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::definition::{StepRole, When};
use super::kinds::StepKind;

/// State of a step in an execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepState {
    /// Not reached yet.
    #[default]
    Pending,
    /// Waits for work outside.
    Running,
    /// Done.
    Succeeded,
    /// Failed.
    Failed,
    /// Not reached by any edge.
    Skipped,
}

impl StepState {
    const fn is_over(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Skipped)
    }
}

/// State of a step, and the result of a condition.
pub type Progress = (StepState, Option<bool>);

/// A step with its kind and edges.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedStep {
    /// Id.
    pub id: String,
    /// Kind with parameters.
    pub kind: StepKind,
    /// Steps before it, and the result that leads here.
    pub incoming: Vec<(usize, When)>,
    /// Steps after it, and the result that leads there.
    pub outgoing: Vec<(usize, When)>,
}

/// A flow that was validated.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FlowPlan {
    /// Steps in the order of the document.
    pub steps: Vec<PlannedStep>,
    /// Steps in an order in which none comes before those that lead to it.
    pub order: Vec<usize>,
}

impl FlowPlan {
    /// Number of the step with this id.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<usize> {
        self.steps.iter().position(|step| step.id == id)
    }

    /// Triggers with their numbers.
    pub fn triggers(&self) -> impl Iterator<Item = (usize, &PlannedStep)> {
        let steps = self.steps.iter().enumerate();
        steps.filter(|(_, step)| step.kind.role() == StepRole::Trigger)
    }
}

/// Outcome of a finished execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// All actions that were reached succeeded, or their failure was handled by an edge.
    Succeeded,
    /// A step failed, and no edge handles it.
    Failed,
    /// No action was reached.
    Skipped,
}

fn is_taken(source: Progress, when: When) -> bool {
    match (when, source) {
        (When::True, (StepState::Succeeded, result)) => result != Some(false),
        (When::False, (StepState::Succeeded, result)) => result == Some(false),
        (When::Error, (StepState::Failed, _)) => true,
        _ => false,
    }
}

/// Next step to run; steps that no edge reaches any more become skipped. `None` when every step is
/// over or waits.
pub fn next_step(plan: &FlowPlan, progress: &mut [Progress]) -> Option<usize> {
    for &number in &plan.order {
        if progress[number].0 != StepState::Pending {
            continue;
        }
        let incoming = &plan.steps[number].incoming;
        if !incoming.iter().all(|(from, _)| progress[*from].0.is_over()) {
            continue;
        }
        if incoming.iter().any(|(from, when)| is_taken(progress[*from], *when)) {
            return Some(number);
        }
        progress[number].0 = StepState::Skipped;
    }
    None
}

/// Outcome of an execution; `None` while a step is pending or running.
#[must_use]
pub fn outcome(plan: &FlowPlan, progress: &[Progress]) -> Option<Outcome> {
    if !progress.iter().all(|(state, _)| state.is_over()) {
        return None;
    }
    let steps = || plan.steps.iter().zip(progress);
    let handled = |step: &PlannedStep| step.outgoing.iter().any(|(_, when)| *when == When::Error);
    let failed = steps().any(|(step, (state, _))| *state == StepState::Failed && !handled(step));
    let acted = steps().any(|(step, (state, _))| {
        step.kind.role() == StepRole::Action && *state != StepState::Skipped
    });
    Some(match (failed, acted) {
        (true, _) => Outcome::Failed,
        (false, true) => Outcome::Succeeded,
        (false, false) => Outcome::Skipped,
    })
}
