//! Convolutions and poolings of named layouts.

use super::named::{Named, destination, mixed, operand, put, shape, sizes, zeros};
use super::types::is_float;
use super::{Maker, Value};
use crate::choices::Choices;

/// Axes of sources, kernels and results.
const CONVOLUTIONS: [(&str, &str, &str, &str); 30] = [
    ("conv_1d", "w", "w", "w"),
    ("conv_2d", "hw", "hw", "hw"),
    ("conv_3d", "dhw", "dhw", "dhw"),
    ("conv_1d_ncw_fcw", "ncw", "fcw", "nfw"),
    ("conv_1d_nwc_wcf", "nwc", "wcf", "nwf"),
    ("conv_2d_nchw_fchw", "nchw", "fchw", "nfhw"),
    ("conv_2d_nchw_fchw_q", "nchw", "fchw", "nfhw"),
    ("conv_2d_ngchw_fgchw", "ngchw", "fgchw", "ngfhw"),
    ("conv_2d_ngchw_gfchw", "ngchw", "gfchw", "ngfhw"),
    ("conv_2d_ngchw_gfchw_q", "ngchw", "gfchw", "ngfhw"),
    ("conv_2d_nhwc_fhwc", "nhwc", "fhwc", "nhwf"),
    ("conv_2d_nhwc_fhwc_q", "nhwc", "fhwc", "nhwf"),
    ("conv_2d_nhwc_hwcf", "nhwc", "hwcf", "nhwf"),
    ("conv_2d_nhwc_hwcf_q", "nhwc", "hwcf", "nhwf"),
    ("conv_2d_nhwgc_gfhwc", "nhwgc", "gfhwc", "nhwgf"),
    ("conv_2d_nhwgc_gfhwc_q", "nhwgc", "gfhwc", "nhwgf"),
    ("conv_3d_ncdhw_fcdhw", "ncdhw", "fcdhw", "nfdhw"),
    ("conv_3d_ndhwc_dhwcf", "ndhwc", "dhwcf", "ndhwf"),
    ("conv_3d_ndhwc_dhwcf_q", "ndhwc", "dhwcf", "ndhwf"),
    ("depthwise_conv_1d_ncw_cw", "ncw", "cw", "ncw"),
    ("depthwise_conv_1d_nwc_wc", "nwc", "wc", "nwc"),
    ("depthwise_conv_1d_nwc_wcm", "nwc", "wcm", "nwcm"),
    ("depthwise_conv_2d_nchw_chw", "nchw", "chw", "nchw"),
    ("depthwise_conv_2d_nhwc_hwc", "nhwc", "hwc", "nhwc"),
    ("depthwise_conv_2d_nhwc_hwc_q", "nhwc", "hwc", "nhwc"),
    ("depthwise_conv_2d_nhwc_hwcm", "nhwc", "hwcm", "nhwcm"),
    ("depthwise_conv_2d_nhwc_hwcm_q", "nhwc", "hwcm", "nhwcm"),
    ("depthwise_conv_3d_ncdhw_cdhw", "ncdhw", "cdhw", "ncdhw"),
    ("depthwise_conv_3d_ndhwc_dhwc", "ndhwc", "dhwc", "ndhwc"),
    ("depthwise_conv_3d_ndhwc_dhwcm", "ndhwc", "dhwcm", "ndhwcm"),
];

const POOLINGS: [&str; 17] = [
    "nchw_max",
    "nchw_sum",
    "ncw_max",
    "ncw_sum",
    "ndhwc_max",
    "ndhwc_min",
    "ndhwc_sum",
    "nhwc_max",
    "nhwc_max_unsigned",
    "nhwc_min",
    "nhwc_min_unsigned",
    "nhwc_sum",
    "nwc_max",
    "nwc_max_unsigned",
    "nwc_min",
    "nwc_min_unsigned",
    "nwc_sum",
];

/// Steps of a window over an axis.
struct Window {
    axis: char,
    size: i64,
    stride: i64,
    dilation: i64,
}

fn windows(c: &mut Choices, axes: &str, is_plain: bool) -> Vec<Window> {
    let spatial = axes.chars().filter(|axis| "dhw".contains(*axis));
    let window = |axis: char| {
        c.scope(format!("window{axis}"), |c| Window {
            axis,
            size: 1 + c.below("kernel", 3) as i64,
            stride: if is_plain {
                1
            } else {
                1 + c.below("stride", 2) as i64
            },
            dilation: if is_plain {
                1
            } else {
                1 + c.below("dilation", 2) as i64
            },
        })
    };
    spatial.map(window).collect()
}

/// The shape of what windows go over: at times a bit longer than they reach.
fn reached(c: &mut Choices, axes: &str, sizes: &[(char, i64)], windows: &[Window]) -> Vec<i64> {
    let mut reached = shape(axes, sizes);
    for (axis, size) in axes.chars().zip(&mut reached) {
        if let Some(window) = windows.iter().find(|window| window.axis == axis) {
            let last = (*size - 1).max(0) * window.stride + (window.size - 1) * window.dilation;
            let more = c.scope(axis, |c| c.below("more", window.stride as u64)) as i64;
            *size = last + 1 + more;
        }
    }
    reached
}

fn strides(windows: &[Window]) -> String {
    let list = |of: fn(&Window) -> i64| {
        let numbers: Vec<String> = windows.iter().map(|w| of(w).to_string()).collect();
        format!(
            "dense<[{}]> : tensor<{}xi64>",
            numbers.join(", "),
            windows.len()
        )
    };
    let (dilations, strides) = (list(|w| w.dilation), list(|w| w.stride));
    format!("{{dilations = {dilations}, strides = {strides}}}")
}

/// Sizes of what windows make: at least one along each, which is what upstream follows.
fn made(c: &mut Choices, axes: &str) -> Vec<(char, i64)> {
    let mut sizes = sizes(c, axes);
    for (axis, size) in &mut sizes {
        if "dhw".contains(*axis) {
            *size = (*size).max(1);
        }
    }
    sizes
}

/// Adds a convolution.
pub fn convolution(c: &mut Choices, maker: &mut Maker) -> Option<Value> {
    let all = CONVOLUTIONS.iter().filter(|(name, ..)| {
        let is_quantised = name.ends_with("_q");
        !is_quantised || !is_float(maker.element) && maker.element != "i1"
    });
    let all: Vec<_> = all.collect();
    let (name, source, kernel, result) = all[c.below("convolution", all.len() as u64) as usize];
    let is_quantised = name.ends_with("_q");
    let is_plain = matches!(*name, "conv_1d" | "conv_2d" | "conv_3d");
    let sizes = made(c, &format!("{source}{kernel}{result}"));
    let windows = windows(c, source, is_plain);
    let types = mixed(c, maker, is_quantised);
    let reached = reached(c, source, &sizes, &windows);
    // A plain one has no other positions than those of its result.
    let kernel: Vec<i64> = (kernel.chars().zip(shape(kernel, &sizes)))
        .map(|(axis, size)| {
            let window = windows.iter().find(|window| window.axis == axis);
            window.map_or(size, |window| window.size)
        })
        .collect();
    let inputs = vec![
        c.scope("a", |c| operand(c, maker, reached, types[0])),
        c.scope("b", |c| operand(c, maker, kernel, types[1])),
    ];
    let out = destination(c, maker, shape(result, &sizes), types[2]);
    let of = Named {
        name,
        attributes: if is_plain {
            String::new()
        } else {
            strides(&windows)
        },
        inputs,
        scalars: if is_quantised { zeros(c) } else { Vec::new() },
        tail: None,
    };
    Some(put(maker, of, out))
}

/// Adds a pooling.
pub fn pooling(c: &mut Choices, maker: &mut Maker) -> Option<Value> {
    if maker.element == "i1" {
        return None;
    }
    let all = POOLINGS
        .iter()
        .filter(|name| !name.ends_with("unsigned") || !is_float(maker.element));
    let all: Vec<_> = all.collect();
    let name = all[c.below("pooling", all.len() as u64) as usize];
    let axes = name.split('_').next().unwrap_or_default();
    let sizes = made(c, axes);
    let windows = windows(c, axes, false);
    let [element, _, out] = mixed(c, maker, false);
    let reached = reached(c, axes, &sizes, &windows);
    let kernel = windows.iter().map(|window| window.size).collect();
    let inputs = vec![
        c.scope("a", |c| operand(c, maker, reached, element)),
        c.scope("b", |c| maker.argument(c, kernel, element)),
    ];
    let out = destination(c, maker, shape(axes, &sizes), out);
    let of = Named {
        name: &format!("pooling_{name}"),
        attributes: strides(&windows),
        inputs,
        scalars: Vec::new(),
        tail: None,
    };
    Some(put(maker, of, out))
}
