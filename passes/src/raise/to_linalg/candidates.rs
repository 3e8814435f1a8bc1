//! The operations with names that are worth a try in the place of `linalg.generic`, by what a body yields.

use mdh_dialect::ops;

/// The operation that a body yields, and the named one on as many inputs whose loops are the indices of all operands.
pub const ELEMENTWISE: [(&str, &str, usize); 36] = [
    (ops::arith::ADDF, "add", 2),
    (ops::arith::ADDI, "add", 2),
    (ops::arith::ORI, "add", 2),
    (ops::arith::ANDI, "mul", 2),
    (ops::arith::SUBF, "sub", 2),
    (ops::arith::SUBI, "sub", 2),
    (ops::arith::MULF, "mul", 2),
    (ops::arith::MULI, "mul", 2),
    (ops::arith::DIVF, "div", 2),
    (ops::arith::DIVSI, "div", 2),
    (ops::arith::DIVUI, "div_unsigned", 2),
    (ops::arith::MAXIMUMF, "max", 2),
    (ops::arith::MAXSI, "max", 2),
    (ops::arith::MINIMUMF, "min", 2),
    (ops::arith::MINSI, "min", 2),
    (ops::math::POWF, "powf", 2),
    (ops::arith::SELECT, "select", 3),
    (ops::arith::MULF, "square", 1),
    (ops::arith::DIVF, "reciprocal", 1),
    (ops::arith::NEGF, "negf", 1),
    (ops::math::ABSF, "abs", 1),
    (ops::math::CEIL, "ceil", 1),
    (ops::math::ERF, "erf", 1),
    (ops::math::EXP, "exp", 1),
    (ops::math::FLOOR, "floor", 1),
    (ops::math::LOG, "log", 1),
    (ops::math::ROUND, "round", 1),
    (ops::math::RSQRT, "rsqrt", 1),
    (ops::math::SQRT, "sqrt", 1),
    (ops::math::TANH, "tanh", 1),
    (ops::arith::EXTF, "copy", 1),
    (ops::arith::EXTSI, "copy", 1),
    (ops::arith::FPTOSI, "copy", 1),
    (ops::arith::SITOFP, "copy", 1),
    (ops::arith::TRUNCF, "copy", 1),
    (ops::arith::TRUNCI, "copy", 1),
];

/// Conversions of integers without a sign.
pub const UNSIGNED_COPIES: [&str; 2] = [ops::arith::EXTUI, ops::arith::UITOFP];

/// The larger and the smaller of integers with a sign, which upstream builds of truth, too. It refuses to build the
/// body of `max_unsigned` and `min_unsigned` of truth.
pub const BOUNDS: [&str; 2] = [ops::arith::MAXSI, ops::arith::MINSI];

/// Sums of products over loops without windows, and their number of inputs.
pub const PRODUCTS: [(&str, usize); 9] = [
    ("dot", 2),
    ("matvec", 2),
    ("vecmat", 2),
    ("batch_matvec", 2),
    ("batch_vecmat", 2),
    ("mmt4d", 2),
    ("batch_mmt4d", 2),
    ("quantized_matmul", 4),
    ("quantized_batch_matmul", 4),
];

/// Sums of products over windows; those with `_q` take their zeros, too.
pub const CONVOLUTIONS: [&str; 30] = [
    "conv_1d",
    "conv_1d_ncw_fcw",
    "conv_1d_nwc_wcf",
    "conv_2d",
    "conv_2d_nchw_fchw",
    "conv_2d_nchw_fchw_q",
    "conv_2d_ngchw_fgchw",
    "conv_2d_ngchw_gfchw",
    "conv_2d_ngchw_gfchw_q",
    "conv_2d_nhwc_fhwc",
    "conv_2d_nhwc_fhwc_q",
    "conv_2d_nhwc_hwcf",
    "conv_2d_nhwc_hwcf_q",
    "conv_2d_nhwgc_gfhwc",
    "conv_2d_nhwgc_gfhwc_q",
    "conv_3d",
    "conv_3d_ncdhw_fcdhw",
    "conv_3d_ndhwc_dhwcf",
    "conv_3d_ndhwc_dhwcf_q",
    "depthwise_conv_1d_ncw_cw",
    "depthwise_conv_1d_nwc_wc",
    "depthwise_conv_1d_nwc_wcm",
    "depthwise_conv_2d_nchw_chw",
    "depthwise_conv_2d_nhwc_hwc",
    "depthwise_conv_2d_nhwc_hwc_q",
    "depthwise_conv_2d_nhwc_hwcm",
    "depthwise_conv_2d_nhwc_hwcm_q",
    "depthwise_conv_3d_ncdhw_cdhw",
    "depthwise_conv_3d_ndhwc_dhwc",
    "depthwise_conv_3d_ndhwc_dhwcm",
];

/// The layouts of poolings, and what they accumulate.
pub const POOLINGS: [(&str, &str); 17] = [
    ("nchw", "max"),
    ("nchw", "sum"),
    ("ncw", "max"),
    ("ncw", "sum"),
    ("ndhwc", "max"),
    ("ndhwc", "min"),
    ("ndhwc", "sum"),
    ("nhwc", "max"),
    ("nhwc", "max_unsigned"),
    ("nhwc", "min"),
    ("nhwc", "min_unsigned"),
    ("nhwc", "sum"),
    ("nwc", "max"),
    ("nwc", "max_unsigned"),
    ("nwc", "min"),
    ("nwc", "min_unsigned"),
    ("nwc", "sum"),
];

/// The numbers of kept, combined and batch loops in which upstream writes products of matrices, by whose
/// maps it knows which one is transposed, or lacks loops.
pub struct Product {
    pub name: &'static str,
    pub left: &'static [&'static [usize]],
    pub right: &'static [&'static [usize]],
    pub output: &'static [usize],
    pub rank: usize,
}

pub const MATRICES: [Product; 3] = [
    Product {
        name: "matmul",
        left: &[&[0, 2], &[2, 0], &[2]],
        right: &[&[2, 1], &[1, 2], &[2]],
        output: &[0, 1],
        rank: 3,
    },
    Product {
        name: "batch_matmul",
        left: &[&[0, 1, 3], &[0, 3, 1], &[1, 3], &[3]],
        right: &[&[0, 3, 2], &[0, 2, 3], &[3, 2], &[3]],
        output: &[0, 1, 2],
        rank: 4,
    },
    Product {
        name: "batch_reduce_matmul",
        left: &[&[0, 1, 3], &[0, 3, 1], &[1, 3], &[3]],
        right: &[&[0, 3, 2], &[0, 2, 3], &[3, 2], &[3]],
        output: &[1, 2],
        rank: 4,
    },
];
