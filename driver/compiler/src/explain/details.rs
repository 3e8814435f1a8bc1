//! Explanation for people, with everything: what `mdh explain --verbose` prints.

use super::summary::{Explanation, Origin, Summary};

impl Explanation {
    /// The table, the account of statements, and all that is known of each computation.
    pub fn details(&self) -> String {
        let details = self.computations.iter().map(Summary::details);
        let statements = self.statements.iter();
        let statements = statements.map(|text| format!("\n{text}"));
        self.head() + &self.table() + &statements.collect::<String>() + &details.collect::<String>()
    }
}

impl Summary {
    /// Its amounts, its schedule, the reasons for it, and what follows from it.
    fn details(&self) -> String {
        let reasons = self
            .reasons
            .iter()
            .map(|reason| format!("    - {reason}\n"));
        let counted = self
            .reasons
            .iter()
            .any(|reason| reason.contains("cycles a core"));
        let ranks = match self.origin == Origin::Model && counted {
            true => {
                "    (cycles in these reasons rank loops, for each core; those below are the cost)\n"
            }
            false => "",
        };
        let head = self.heading() + &self.work.text() + &format!("  schedule: {}\n", self.by);
        head + &reasons.collect::<String>() + ranks + &self.consequences()
    }

    fn consequences(&self) -> String {
        let mut text = String::new();
        if let Some(schedule) = &self.schedule {
            let lines = schedule.to_string();
            text.extend(lines.lines().map(|line| format!("    {line}\n")));
        }
        if let Some(at) = &self.within {
            return text
                + &format!(
                    "  levels: those of a tile, in '{}' of '{}', where what bounds both is said\n",
                    at.level, at.consumer
                );
        }
        text.extend(self.refusal.iter().map(|refusal| refusal.text()));
        text += &self.bounds();
        let gain = self.gain().filter(|_| self.cost.is_some());
        text.extend(gain.map(|line| line + "\n"));
        text
    }

    /// Contents of memories, traffic, and times.
    fn bounds(&self) -> String {
        let Some(cost) = &self.cost else {
            let what = match self.memories.is_some() {
                true => "cycles",
                false => self.sized,
            };
            let unknown = self.unknown().into_iter();
            let unknown = unknown.map(|why| format!("  {what}: {why}\n"));
            return self.contents() + &unknown.collect::<String>();
        };
        if let Some(launch) = &self.launch {
            return launch.text(cost);
        }
        let cycles = format!("  cycles: {}\n", cost.parts_text());
        if let Some(updates) = &self.updates {
            return cycles + &updates.bound(cost, self.work.bytes.unwrap_or_default());
        }
        let bound = match self.work.has_open_loops {
            true => format!("computing, if its loops take long, else by {}", cost.bound),
            false => cost.bound.clone(),
        };
        let bound = format!("  bound by {bound} ({})\n", self.rates);
        self.contents() + &self.inside.text() + &cycles + &bound
    }

    /// The line of each memory.
    fn contents(&self) -> String {
        let Some(memories) = &self.memories else {
            return String::new();
        };
        let head = "  what a tile of each level reads and writes, and what comes from the memory around it:\n";
        let lines = memories.iter().map(|memory| memory.text());
        head.to_string() + &lines.collect::<String>()
    }
}
