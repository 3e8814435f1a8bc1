//! Schedules of computations that the compiler makes of what several others evaluate. There are none to give them to
//! yet: the function has all schedules of its computations by name, and `mdh-share-subexpressions` gives them.

use std::collections::BTreeMap;

use mdh_dialect::ir::Op;
use mdh_dialect::schedule;
use mdh_passes::simplify::share_subexpressions;
use mdh_schedule::Schedule;

/// Gives a function schedules by name, where one of them is for a computation that the compiler makes. Whether it
/// is so; or a key that no computation has, and why.
pub fn give(function: Op, plans: &BTreeMap<String, Schedule>) -> Result<bool, (String, String)> {
    let computations = schedule::computations(function);
    let is_made = |key: &String| {
        schedule::find(&computations, key).is_err()
            && share_subexpressions::may_be_common(&computations, key)
    };
    if !plans.keys().any(is_made) {
        return Ok(false);
    }
    let mut named = BTreeMap::new();
    for (key, plan) in plans {
        let name = match schedule::find(&computations, key) {
            Ok(op) => schedule::name(op),
            Err(_) if is_made(key) => key.clone(),
            Err(why) => return Err((key.clone(), why)),
        };
        named.insert(name, plan.clone());
    }
    // These are in the place of schedules that computations have.
    let given = computations.iter();
    for op in given.filter(|op| named.contains_key(&schedule::name(**op))) {
        schedule::set(*op, None);
    }
    schedule::set_named(function, &named);
    Ok(true)
}
