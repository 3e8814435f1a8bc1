//! Convolutions and poolings of named layouts.

use super::maker::{ArrayValue, Maker};
use super::named::{Named, destination, mixed, operand, shape, sizes, zeros};
use super::types::is_float;
use crate::choices::Choices;
use crate::print::code::list;

/// The names of convolutions, which say the axes of source and kernel.
const CONVOLUTIONS: &str = "conv_1d conv_2d conv_3d conv_1d_ncw_fcw conv_1d_nwc_wcf conv_2d_nchw_fchw \
    conv_2d_ngchw_fgchw conv_2d_ngchw_gfchw conv_2d_nhwc_fhwc conv_2d_nhwc_hwcf conv_2d_nhwgc_gfhwc \
    conv_3d_ncdhw_fcdhw conv_3d_ndhwc_dhwcf depthwise_conv_1d_ncw_cw depthwise_conv_1d_nwc_wc \
    depthwise_conv_1d_nwc_wcm depthwise_conv_2d_nchw_chw depthwise_conv_2d_nhwc_hwc depthwise_conv_2d_nhwc_hwcm \
    depthwise_conv_3d_ncdhw_cdhw depthwise_conv_3d_ndhwc_dhwc depthwise_conv_3d_ndhwc_dhwcm";

/// Those of integers with zero points.
const QUANTISED: &str = "conv_2d_nchw_fchw_q conv_2d_ngchw_gfchw_q conv_2d_nhwc_fhwc_q conv_2d_nhwc_hwcf_q \
    conv_2d_nhwgc_gfhwc_q conv_3d_ndhwc_dhwcf_q depthwise_conv_2d_nhwc_hwc_q depthwise_conv_2d_nhwc_hwcm_q";

/// The names of poolings, which say the axes of the source; those of integers without a sign are the last.
const POOLINGS: &str = "nchw_max nchw_sum ncw_max ncw_sum ndhwc_max ndhwc_min ndhwc_sum nhwc_max nhwc_min nhwc_sum \
    nwc_max nwc_min nwc_sum nhwc_max_unsigned nhwc_min_unsigned nwc_max_unsigned nwc_min_unsigned";

/// The axes of a convolution's source, kernel and result.
fn axes(name: &str) -> [String; 3] {
    let plain = name.trim_start_matches("depthwise_");
    let mut words = plain.split('_').skip(2);
    let (Some(source), Some(kernel)) = (words.next(), words.next()) else {
        let rank: usize = plain[5..6].parse().unwrap_or(1);
        return [&"dhw"[3 - rank..]; 3].map(String::from);
    };
    let result = match plain == name {
        true => source.replace('c', "f"),
        // Each channel is one of its own, or several.
        false => {
            let more = kernel.chars().filter(|axis| !source.contains(*axis));
            source.chars().chain(more).collect()
        }
    };
    [source.into(), kernel.into(), result]
}

/// Steps of a window over an axis.
struct Window {
    axis: char,
    size: i64,
    stride: i64,
    dilation: i64,
}

/// Windows over the axes of a source; a plain one has no steps.
fn windows(c: &mut Choices, axes: &str, is_plain: bool) -> Vec<Window> {
    let steps = if is_plain { 1 } else { 2 };
    let spatial = axes.chars().filter(|axis| "dhw".contains(*axis));
    let window = |axis: char| {
        c.scope(format!("window{axis}"), |c| Window {
            axis,
            size: 1 + c.below("kernel", 3) as i64,
            stride: 1 + c.below("stride", steps) as i64,
            dilation: 1 + c.below("dilation", steps) as i64,
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
    let typed = |of: fn(&Window) -> i64| {
        let numbers = list(windows.iter().map(of));
        format!("dense<[{numbers}]> : tensor<{}xi64>", windows.len())
    };
    let (dilations, strides) = (typed(|w| w.dilation), typed(|w| w.stride));
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
pub fn convolution(c: &mut Choices, maker: &mut Maker) -> Option<ArrayValue> {
    let mut names: Vec<&str> = CONVOLUTIONS.split(' ').collect();
    if !is_float(maker.element) && maker.element != "i1" {
        names.extend(QUANTISED.split(' '));
    }
    let name = c.pick("convolution", &names);
    let [source, kernel, result] = axes(name);
    let is_quantised = name.ends_with("_q");
    let is_plain = source == kernel;
    let sizes = made(c, &format!("{source}{kernel}{result}"));
    let windows = windows(c, &source, is_plain);
    let types = mixed(c, maker, is_quantised);
    let reached = reached(c, &source, &sizes, &windows);
    // A plain one has no other positions than those of its result.
    let kernel = kernel.chars().zip(shape(&kernel, &sizes));
    let kernel = kernel.map(|(axis, size)| {
        let window = windows.iter().find(|window| window.axis == axis);
        window.map_or(size, |window| window.size)
    });
    let named = Named {
        name,
        attributes: if is_plain {
            String::new()
        } else {
            strides(&windows)
        },
        scalars: if is_quantised { zeros(c) } else { Vec::new() },
        ..Named::default()
    };
    let shapes = [reached, kernel.collect(), shape(&result, &sizes)];
    Some(named.of_two(c, maker, shapes, types))
}

/// Adds a pooling.
pub fn pooling(c: &mut Choices, maker: &mut Maker) -> Option<ArrayValue> {
    if maker.element == "i1" {
        return None;
    }
    let mut names: Vec<&str> = POOLINGS.split(' ').collect();
    if is_float(maker.element) {
        names.retain(|name| !name.ends_with("unsigned"));
    }
    let name = c.pick("pooling", &names);
    let axes = name.split('_').next().unwrap_or_default();
    let sizes = made(c, axes);
    let windows = windows(c, axes, false);
    let [element, _, out] = mixed(c, maker, false);
    let reached = reached(c, axes, &sizes, &windows);
    let kernel = windows.iter().map(|window| window.size).collect();
    let named = Named {
        name: &format!("pooling_{name}"),
        attributes: strides(&windows),
        inputs: vec![
            c.scope("a", |c| operand(c, maker, reached, element)),
            c.scope("b", |c| maker.argument(c, kernel, element)),
        ],
        ..Named::default()
    };
    let out = destination(c, maker, shape(axes, &sizes), out);
    Some(named.put(maker, out))
}
