//! The function `evaluate_unit(plan, unit)` as the cluster calls it.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray, StringArray};
use datafusion::arrow::datatypes::{DataType, UInt64Type};
use datafusion::common::{DataFusionError, Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use groundwave_engine::Pacer;
use groundwave_files::wall::MachineClock;
use serde::{Deserialize, Serialize};

/// Name of the function.
pub const NAME: &str = "evaluate_unit";

/// Evaluation of the unit with this number in the plan with this digest.
pub type Evaluate = Arc<dyn Fn(&str, u64) -> Result<Made, String> + Send + Sync>;

/// Origin of a unit that is in the store now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Made {
    /// It was evaluated.
    Evaluated,
    /// It was there.
    Found,
}

/// Outcome of a unit: a row of the result of a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Place of the unit in the plan's order.
    pub unit: u64,
    /// Why it is not in the store; absent where it is. Rows report failures, because a task that fails
    /// would end the job, and with it other units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Time of the evaluation and of writing, s; 0 for one that was there.
    pub seconds: f64,
}

/// The function. Schedulers and drivers know its name and types only.
#[derive(Clone)]
struct EvaluateUnit {
    signature: Signature,
    evaluate: Option<Evaluate>,
}

/// The function of an executor, or with nothing to call that of a scheduler or driver.
#[must_use]
pub fn function(evaluate: Option<Evaluate>) -> Arc<ScalarUDF> {
    Arc::new(ScalarUDF::new_from_impl(EvaluateUnit {
        // Volatile: it is called once for each row, and where the rows are.
        signature: Signature::exact(vec![DataType::Utf8, DataType::UInt64], Volatility::Volatile),
        evaluate,
    }))
}

impl fmt::Debug for EvaluateUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(NAME).finish_non_exhaustive()
    }
}

impl PartialEq for EvaluateUnit {
    fn eq(&self, other: &Self) -> bool {
        self.signature == other.signature
    }
}

impl Eq for EvaluateUnit {}

impl Hash for EvaluateUnit {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.signature.hash(state);
    }
}

impl ScalarUDFImpl for EvaluateUnit {
    fn name(&self) -> &str {
        NAME
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _types: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let wrong = |what: &str| DataFusionError::Execution(format!("{NAME}: {what}"));
        let Some(evaluate) = &self.evaluate else {
            return Err(wrong("called outside of an executor"));
        };
        let [plan, units] = args.args.as_slice() else {
            return Err(wrong("found other than two arguments"));
        };
        let ColumnarValue::Scalar(ScalarValue::Utf8(Some(plan))) = plan else {
            return Err(wrong("the plan is no literal"));
        };
        let units = units.to_array(args.number_rows)?;
        let outcomes = units.as_primitive::<UInt64Type>().values().iter();
        let outcomes = outcomes.map(|&unit| {
            let outcome = outcome(evaluate, plan, unit);
            serde_json::to_string(&outcome).expect("an outcome is plain data")
        });
        let outcomes: ArrayRef = Arc::new(StringArray::from_iter_values(outcomes));
        Ok(ColumnarValue::Array(outcomes))
    }
}

fn outcome(evaluate: &Evaluate, plan: &str, unit: u64) -> Outcome {
    let mut clock = MachineClock::start();
    // A panic would end the task, and with it other units.
    let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| evaluate(plan, unit)))
        .unwrap_or_else(|_| Err("the evaluation panicked; see the log of the executor".to_owned()));
    let seconds = clock.monotonic_ns() as f64 / 1e9;
    let (error, seconds) = match outcome {
        Ok(Made::Evaluated) => (None, seconds),
        Ok(Made::Found) => (None, 0.0),
        Err(error) => (Some(error), seconds),
    };
    Outcome { unit, error, seconds }
}
