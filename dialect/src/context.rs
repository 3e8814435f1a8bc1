//! Contexts and registries with the dialect in them.

use melior::Context;
use melior::dialect::DialectRegistry;

use crate::ffi;

/// A registry with upstream's dialects, extensions and translations, and ours.
pub fn full_registry() -> DialectRegistry {
    let registry = DialectRegistry::new();
    // SAFETY: the registry is valid.
    unsafe { ffi::mdhRegisterAll(registry.to_raw()) };
    registry
}

/// A context for reading and running programs: our dialect and those that computations on a CPU
/// are written in and lowered to. Loading no more than these keeps the start of a command short.
pub fn program_context() -> Context {
    let registry = full_registry();
    let context = Context::new();
    context.append_dialect_registry(&registry);
    context.enable_multi_threading(false);
    context
}
