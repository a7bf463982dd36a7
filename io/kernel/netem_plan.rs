//! An impairment as options of `netem`, and the impairment, the facts and the words of `tc` of options.

use groundwave_impair::{
    Distribution, Draw, Fact, Impairment, ImpairmentField, Kind, Latency, Loss, Value,
};

use super::limits::netem_limit;
use super::netem::{DRAWS, Netem, Odds, fraction, probability};

/// Options for `impairment`.
pub(super) fn plan(impairment: &Impairment) -> Netem {
    let signed = |ns: u64| i64::try_from(ns).unwrap_or(i64::MAX);
    let raw = |correlation: Option<f64>| correlation.map_or(0, probability);
    let mut netem = Netem { limit: netem_limit(impairment), ..Netem::default() };
    if let Some(latency) = &impairment.latency {
        netem.latency_ns = signed(latency.mean_ns());
        netem.jitter_ns = signed(latency.jitter_ns());
        if let Latency::Stochastic { correlation, .. } = latency {
            netem.delay_corr = raw(*correlation);
        }
    }
    for draw in &DRAWS {
        if let Some(Draw { pct, correlation }) = draw.field.value(impairment).and_then(Kind::draw) {
            let prob = probability(pct / 100.0);
            *(draw.odds_mut)(&mut netem) = Odds { prob, correlation: raw(correlation) };
        }
    }
    // The kernel takes h, the survival probability in Bad, and 1-k, the loss probability in Good;
    // the interface names the latter one_minus_h and the loss probability in Bad one_minus_k.
    if let Some(Loss::GilbertElliott { p, r, one_minus_h, one_minus_k }) = impairment.loss {
        let survival_in_bad = u32::MAX - probability(one_minus_k);
        let loss_in_good = probability(one_minus_h);
        netem.gemodel = Some([probability(p), probability(r), survival_in_bad, loss_in_good]);
    }
    if let Some(reordering) = impairment.reordering {
        netem.gap = reordering.gap.get();
    }
    netem
}

/// Impairment that `netem` is; ambiguous numbers are those of `requested`.
pub(super) fn read(netem: &Netem, requested: Option<&Impairment>) -> Impairment {
    let latency = requested.and_then(|requested| requested.latency.as_ref());
    let mut impairment =
        Impairment { latency: read_latency(netem, latency), ..Impairment::default() };
    for draw in &DRAWS {
        let value = requested.and_then(|requested| draw.field.value(requested));
        let request = value.and_then(Kind::draw);
        let odds = (draw.odds)(netem);
        if (draw.is_set)(netem) || request.is_some() {
            let has_correlation = odds.correlation != 0
                || request.is_some_and(|request| request.correlation.is_some());
            let correlation = has_correlation.then(|| fraction(odds.correlation, 1.0));
            let pct = fraction(odds.prob, 100.0);
            (draw.read)(&mut impairment, netem, Draw { pct, correlation });
        }
    }
    if let Some([p, r, survival_in_bad, loss_in_good]) = netem.gemodel {
        impairment.loss = Some(Loss::GilbertElliott {
            p: fraction(p, 1.0),
            r: fraction(r, 1.0),
            one_minus_h: fraction(loss_in_good, 1.0),
            one_minus_k: fraction(u32::MAX - survival_in_bad, 1.0),
        });
    }
    impairment
}

fn read_latency(netem: &Netem, requested: Option<&Latency>) -> Option<Latency> {
    let whole = |ns: i64| u64::try_from(ns).unwrap_or(0);
    if netem.jitter_ns == 0 {
        let duration_ns = whole(netem.latency_ns);
        return (duration_ns != 0 || requested.is_some())
            .then_some(Latency::Constant { duration_ns });
    }
    let (distribution, correlation) = match requested {
        Some(Latency::Stochastic { distribution, correlation, .. }) => {
            (distribution.clone(), *correlation)
        }
        _ => (Distribution::default(), None),
    };
    let has_correlation = netem.delay_corr != 0 || correlation.is_some();
    Some(Latency::Stochastic {
        mean_ns: whole(netem.latency_ns),
        jitter_ns: whole(netem.jitter_ns),
        distribution,
        correlation: has_correlation.then(|| fraction(netem.delay_corr, 1.0)),
    })
}

/// Facts about `netem`.
pub(super) fn facts(netem: &Netem, facts: &mut Vec<Fact>) {
    let mut add = |field, raw: i128, value| {
        facts.push(Fact { layer: "netem", field, raw, slack: 0, value });
    };
    let time = |ns: i64| Value::Whole(u64::try_from(ns).unwrap_or(0));
    add("kind", 0, Value::Text("netem".to_owned()));
    add("latency.mean", netem.latency_ns.into(), time(netem.latency_ns));
    add("latency.jitter", netem.jitter_ns.into(), time(netem.jitter_ns));
    add("limit", netem.limit.into(), Value::Whole(netem.limit.into()));
    add("reordering.gap", netem.gap.into(), Value::Whole(netem.gap.into()));
    let odds = || DRAWS.iter().map(|draw| (draw.facts, *(draw.odds)(netem)));
    for ([pct, _], odds) in odds() {
        add(pct, odds.prob.into(), Value::Real(fraction(odds.prob, 100.0)));
    }
    let delays = ("latency.correlation", netem.delay_corr);
    let others = odds().map(|([_, correlation], odds)| (correlation, odds.correlation));
    for (field, raw) in std::iter::once(delays).chain(others) {
        add(field, raw.into(), Value::Real(fraction(raw, 1.0)));
    }
    if let Some([p, r, h, loss_in_good]) = netem.gemodel {
        add("loss.model", 1, Value::Text("gilbert-elliott".to_owned()));
        for (field, raw) in [
            ("loss.p", p),
            ("loss.r", r),
            ("loss.one_minus_h", loss_in_good),
            ("loss.one_minus_k", u32::MAX - h),
        ] {
            add(field, raw.into(), Value::Real(fraction(raw, 1.0)));
        }
    }
    let unsupported = &netem.unsupported;
    for (field, is_set) in [
        ("rate", unsupported.rate != 0),
        ("ecn", unsupported.ecn),
        ("slot", unsupported.slots),
        ("loss.model", unsupported.four_states),
    ] {
        if is_set {
            add(field, -1, Value::Text("set by another program".to_owned()));
        }
    }
}

/// Options of `netem` in the words of `tc`, and reasons why `tc` cannot set the rest of them.
pub(super) fn words(netem: &Netem, impairment: &Impairment) -> (String, Vec<&'static str>) {
    let mut words = vec![format!("netem limit {}", netem.limit)];
    let mut reasons = time_reasons(netem);
    // `tc` sends the correlation of duplication only beside that of loss or delay.
    let is_correlated =
        netem.delay_corr > 0 || (netem.duplicate.correlation > 0 && netem.loss.correlation == 0);
    if netem.latency_ns > 0 || netem.jitter_ns > 0 || is_correlated {
        words.push(format!("delay {}", time(netem.latency_ns)));
    }
    if netem.jitter_ns > 0 || is_correlated {
        words.push(time(netem.jitter_ns));
    }
    if is_correlated {
        words.push(percent(netem.delay_corr));
    }
    if netem.jitter_ns > 0
        && let Some(Latency::Stochastic { distribution, .. }) = &impairment.latency
        && distribution.kind() != "uniform"
    {
        words.push(format!("distribution {}", name(distribution)));
        if matches!(distribution, Distribution::Table { .. }) {
            reasons.push("tc reads distributions from its own folder, not from that of the daemon");
        }
    }
    for draw in &DRAWS {
        if draw.field == ImpairmentField::Reordering {
            match *(draw.odds)(netem) {
                Odds { prob: 0, .. } if netem.gap > 0 => {
                    reasons.push("tc has no gap without a share of reordering; it has no effect");
                    continue;
                }
                Odds { prob: 1.., .. } if netem.latency_ns == 0 => {
                    reasons.push("tc refuses reordering without a delay; it is missing here");
                    continue;
                }
                _ => {}
            }
        }
        match (draw.field, netem.gemodel) {
            (ImpairmentField::Loss, Some([p, r, h, loss_in_good])) => {
                let shares = [p, r, u32::MAX - h, loss_in_good].map(percent);
                words.push(format!("loss gemodel {}", shares.join(" ")));
            }
            _ => words.extend(share(draw.words, *(draw.odds)(netem))),
        }
        if draw.field == ImpairmentField::Reordering && netem.gap > 0 {
            words.push(format!("gap {}", netem.gap));
        }
    }
    (words.join(" "), reasons)
}

/// Maximum time that `tc` takes, ns: in ticks of 64 ns, of which it has 32 bits.
const TC_TIME_NS_MAX: i64 = 274_877_000_000;

/// Reasons why `tc` cannot set the times of options.
fn time_reasons(netem: &Netem) -> Vec<&'static str> {
    let times = [netem.latency_ns, netem.jitter_ns];
    let mut reasons = Vec::new();
    if times.iter().any(|ns| *ns > TC_TIME_NS_MAX) {
        reasons.push("tc refuses times above 274.877 s, which stand here in their place");
    }
    if times.iter().any(|ns| ns % 1_000 != 0) {
        reasons
            .push("tc sets whole microseconds, and drops the fraction of a delay or a jitter here");
    }
    reasons
}

/// Name of a distribution, as of its file for `tc`.
fn name(distribution: &Distribution) -> &str {
    match distribution {
        Distribution::Table { name } => name,
        built_in => built_in.kind(),
    }
}

fn share(words: &str, odds: Odds) -> Option<String> {
    let correlation =
        correlation(odds.correlation).map_or(String::new(), |text| format!(" {text}"));
    (odds.prob > 0).then(|| format!("{words} {}{correlation}", percent(odds.prob)))
}

fn correlation(raw: u32) -> Option<String> {
    (raw > 0).then(|| percent(raw))
}

fn percent(raw: u32) -> String {
    format!("{}%", fraction(raw, 100.0))
}

fn time(ns: i64) -> String {
    let ns = ns.min(TC_TIME_NS_MAX);
    match ns {
        _ if ns % 1_000_000 == 0 => format!("{}ms", ns / 1_000_000),
        _ if ns % 1_000 == 0 => format!("{}us", ns / 1_000),
        // `tc` has no shorter unit here.
        _ => format!("{}.{:03}us", ns / 1_000, ns % 1_000),
    }
}
