//! Available memory: asked before large buffers are made, so that a computation that cannot fit is
//! refused with both numbers instead of being killed half-way.

use std::fs;
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};

use crate::buffer::page_size;
use crate::{Error, Result};

/// Bytes that can be allocated now without swapping: the kernel's estimate, further limited by
/// the control groups (v1 or v2) this process runs in and by its own limits. `None` where the
/// system does not say.
pub fn available() -> Option<u64> {
    let system = available_under(Path::new("/"));
    system.into_iter().chain(within_limits()).min()
}

/// Bytes that the limits of this process (`ulimit -v`, `ulimit -d`) leave; `None` if it has none.
/// Asking allocates no memory.
pub fn within_limits() -> Option<u64> {
    let used = used_pages()?;
    let left = |resource, pages: u64| {
        let mut limit = MaybeUninit::<libc::rlimit>::uninit();
        // SAFETY: the limit is read after a call that has written it.
        let limit = unsafe {
            let done = libc::getrlimit(resource, limit.as_mut_ptr());
            (done == 0).then(|| limit.assume_init().rlim_cur)
        };
        let limit = limit.filter(|limit| *limit != libc::RLIM_INFINITY)?;
        Some(limit.saturating_sub(pages.saturating_mul(page_size() as u64)))
    };
    let limits = [
        left(libc::RLIMIT_AS, used.all),
        left(libc::RLIMIT_DATA, used.data),
    ];
    limits.into_iter().flatten().min()
}

/// The pages that a process has.
struct Used {
    all: u64,
    data: u64,
}

fn used_pages() -> Option<Used> {
    let mut text = [0u8; 256];
    // SAFETY: the name ends in a null byte, and the buffer is as long as it says.
    let length = unsafe {
        let file = libc::open(
            c"/proc/self/statm".as_ptr(),
            libc::O_RDONLY | libc::O_CLOEXEC,
        );
        let length = libc::read(file, text.as_mut_ptr().cast(), text.len());
        libc::close(file);
        usize::try_from(length).ok()?
    };
    let text = std::str::from_utf8(&text[..length]).ok()?;
    let field = |n| text.split_whitespace().nth(n)?.parse().ok();
    Some(Used {
        all: field(0)?,
        data: field(5)?,
    })
}

/// Fails with [`Error::Memory`] if `bytes` are more than [`available`].
pub fn require(bytes: u64) -> Result<()> {
    match available() {
        Some(available) if bytes > available => Err(Error::Memory {
            needed: bytes,
            available,
        }),
        _ => Ok(()),
    }
}

/// [`available`], with `/proc` and `/sys` looked up under `root`.
fn available_under(root: &Path) -> Option<u64> {
    let system = fs::read_to_string(root.join("proc/meminfo"))
        .ok()
        .and_then(|text| field(&text, "MemAvailable:"))
        .map(|kib| kib.saturating_mul(1024));
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let limits = groups.lines().flat_map(|line| group_limits(root, line));
    limits.chain(system).min()
}

/// Returns the memory that the control group of one line of `/proc/self/cgroup`, and each group
/// above it, leaves.
fn group_limits(root: &Path, line: &str) -> Vec<u64> {
    let mut parts = line.splitn(3, ':');
    let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next())
    else {
        return Vec::new();
    };
    let (mount, files) = if controllers.is_empty() {
        (
            "sys/fs/cgroup",
            ["memory.max", "memory.current", "inactive_file"],
        )
    } else if controllers
        .split(',')
        .any(|controller| controller == "memory")
    {
        let files = [
            "memory.limit_in_bytes",
            "memory.usage_in_bytes",
            "total_inactive_file",
        ];
        ("sys/fs/cgroup/memory", files)
    } else {
        return Vec::new();
    };
    let mount = root.join(mount);
    let mut group: PathBuf = mount.join(path.trim_start_matches('/'));
    let mut limits = Vec::new();
    loop {
        limits.extend(group_limit(&group, files));
        if group == mount || !group.pop() {
            return limits;
        }
    }
}

/// Limit minus use of one control group; cached files count as free, the kernel drops them first.
fn group_limit(group: &Path, [limit, usage, inactive]: [&str; 3]) -> Option<u64> {
    let number = |file: &str| -> Option<u64> {
        fs::read_to_string(group.join(file))
            .ok()?
            .trim()
            .parse()
            .ok()
    };
    let limit = number(limit)?; // "max" is no number: no limit
    let used = number(usage)?;
    let statistics = fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
    let cached = field(&statistics, inactive).unwrap_or(0);
    Some(limit.saturating_sub(used.saturating_sub(cached)))
}

/// The number that follows `name` on a line of its own.
fn field(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        (words.next() == Some(name))
            .then(|| words.next()?.parse().ok())
            .flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory tree that stands in for `/`, removed when dropped.
    struct Tree(PathBuf);

    impl Tree {
        fn new(name: &str, files: &[(&str, &str)]) -> Tree {
            let root = std::env::temp_dir().join(format!("mdh-{name}-{}", std::process::id()));
            for (path, text) in files {
                let path = root.join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            Tree(root)
        }
    }

    impl Drop for Tree {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    const MEMINFO: (&str, &str) = ("proc/meminfo", "MemTotal: 9000 kB\nMemAvailable: 8000 kB\n");

    #[test]
    fn without_groups_the_kernel_decides() {
        let tree = Tree::new("plain", &[MEMINFO]);
        assert_eq!(available_under(&tree.0), Some(8000 * 1024));
    }

    #[test]
    fn the_tightest_group_decides() {
        let tree = Tree::new(
            "v2",
            &[
                MEMINFO,
                ("proc/self/cgroup", "0::/outer/inner\n"),
                ("sys/fs/cgroup/outer/inner/memory.max", "max\n"),
                ("sys/fs/cgroup/outer/inner/memory.current", "10\n"),
                ("sys/fs/cgroup/outer/memory.max", "5000\n"),
                ("sys/fs/cgroup/outer/memory.current", "3000\n"),
                (
                    "sys/fs/cgroup/outer/memory.stat",
                    "anon 1\ninactive_file 500\n",
                ),
            ],
        );
        assert_eq!(available_under(&tree.0), Some(2500));
    }

    #[test]
    fn the_first_version_of_groups_counts_too() {
        let tree = Tree::new(
            "v1",
            &[
                ("proc/self/cgroup", "3:cpu,memory:/job\n2:freezer:/job\n"),
                ("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "4096\n"),
                ("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "5000\n"),
            ],
        );
        assert_eq!(available_under(&tree.0), Some(0));
    }

    #[test]
    fn nothing_known_is_no_limit() {
        let tree = Tree::new("none", &[("proc/other", "")]);
        assert_eq!(available_under(&tree.0), None);
    }

    #[test]
    fn this_machine_has_a_megabyte_but_no_exabyte() {
        require(1 << 20).unwrap();
        let error = require(1 << 60).unwrap_err();
        assert!(matches!(error, Error::Memory { needed, .. } if needed == 1 << 60));
    }
}
