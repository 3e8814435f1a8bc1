//! The mdh driver.
