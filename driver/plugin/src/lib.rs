//! libmdh.so
