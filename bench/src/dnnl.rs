//! The part of oneDNN's C interface, version 3, that [`super::onednn`] uses.

use std::ffi::{c_int, c_uint, c_void};
use std::mem::ManuallyDrop;
use std::ptr::null_mut;
use std::rc::Rc;

use libloading::Symbol;

use super::blas;
#[cfg(doc)]
use super::library::Library;
use super::library::Runs;

/// Opaque object of the library.
pub type Handle = *mut c_void;

/// `dnnl_engine_create`.
pub type MakeEngine = unsafe extern "C" fn(*mut Handle, c_int, usize) -> c_int;
/// `dnnl_stream_create`.
pub type MakeStream = unsafe extern "C" fn(*mut Handle, Handle, c_uint) -> c_int;
/// `dnnl_memory_desc_create_with_strides`.
pub type MakeStrided =
    unsafe extern "C" fn(*mut Handle, c_int, *const i64, c_int, *const i64) -> c_int;
/// `dnnl_memory_desc_create_with_tag`.
pub type MakeTagged = unsafe extern "C" fn(*mut Handle, c_int, *const i64, c_int, c_int) -> c_int;
/// `dnnl_memory_create`.
pub type MakeMemory = unsafe extern "C" fn(*mut Handle, Handle, Handle, *mut c_void) -> c_int;
/// `dnnl_matmul_primitive_desc_create`.
pub type MakeMatmul =
    unsafe extern "C" fn(*mut Handle, Handle, Handle, Handle, Handle, Handle, Handle) -> c_int;
/// `dnnl_convolution_forward_primitive_desc_create`.
pub type MakeConvolution = unsafe extern "C" fn(
    *mut Handle,
    Handle,
    c_int,
    c_int,
    Handle,
    Handle,
    Handle,
    Handle,
    *const i64,
    *const i64,
    *const i64,
    *const i64,
    Handle,
) -> c_int;
/// `dnnl_softmax_forward_primitive_desc_create`.
pub type MakeSoftmax =
    unsafe extern "C" fn(*mut Handle, Handle, c_int, c_int, Handle, Handle, c_int, Handle) -> c_int;
/// `dnnl_reorder_primitive_desc_create`.
pub type MakeReorder =
    unsafe extern "C" fn(*mut Handle, Handle, Handle, Handle, Handle, Handle) -> c_int;
/// `dnnl_primitive_create`.
pub type MakePrimitive = unsafe extern "C" fn(*mut Handle, Handle) -> c_int;
/// `dnnl_primitive_desc_query_md`.
pub type QueryMemory = unsafe extern "C" fn(Handle, c_int, c_int) -> Handle;
/// `dnnl_primitive_execute`.
pub type Execute = unsafe extern "C" fn(Handle, Handle, c_int, *const Argument) -> c_int;
/// Functions of one object.
pub type One = unsafe extern "C" fn(Handle) -> c_int;

/// An array that a primitive is applied to.
#[repr(C)]
pub struct Argument {
    /// Role of the operand in the primitive.
    pub role: c_int,
    /// The array.
    pub memory: Handle,
}

/// `dnnl_cpu`.
pub const CPU: c_int = 1;
/// `dnnl_stream_in_order`.
pub const IN_ORDER: c_uint = 1;
/// `dnnl_f32`.
pub const SINGLE: c_int = 3;
/// `dnnl_format_tag_any`.
pub const ANY_FORMAT: c_int = 1;
/// `dnnl_forward_inference`.
pub const INFERENCE: c_int = 96;
/// `dnnl_convolution_direct`.
pub const DIRECT: c_int = 1;
/// `dnnl_softmax_accurate`.
pub const ACCURATE: c_int = 0x30000;
/// `dnnl_query_weights_md`.
pub const LAYOUT_OF_WEIGHTS: c_int = 131;
/// `DNNL_ARG_SRC`.
pub const SOURCE: c_int = 1;
/// `DNNL_ARG_DST`.
pub const RESULT: c_int = 17;
/// `DNNL_ARG_WEIGHTS`.
pub const WEIGHTS: c_int = 33;

/// Request for memory of the library's own.
pub const ALLOCATE: *mut c_void = usize::MAX as *mut c_void;

/// An object of the library, destroyed with this.
pub struct Object {
    handle: Handle,
    destroy: One,
}

impl Object {
    /// Returns the library's handle. (A closure that calls this keeps the object.)
    pub fn handle(&self) -> Handle {
        self.handle
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        // SAFETY: it was made by the function that goes with `destroy`, and nobody else has it.
        unsafe { (self.destroy)(self.handle) };
    }
}

/// A function of the library.
///
/// # Safety
/// The function of that name has the type `F`, and the library outlives its use.
pub unsafe fn function<F: Copy>(library: &libloading::Library, name: &[u8]) -> Option<F> {
    // SAFETY: by this function's contract.
    let symbol: Symbol<F> = unsafe { library.get(name) }.ok()?;
    Some(*symbol)
}

/// An object, if `create` succeeds in making it.
///
/// # Safety
/// `destroy` is the name of the function that destroys what `create` makes.
pub unsafe fn make(
    library: &libloading::Library,
    destroy: &[u8],
    create: impl FnOnce(*mut Handle) -> Option<c_int>,
) -> Option<Object> {
    // SAFETY: all objects are destroyed by functions of this type.
    let destroy: One = unsafe { function(library, destroy)? };
    let mut handle = null_mut();
    let status = create(&mut handle)?;
    (status == 0).then_some(Object { handle, destroy })
}

/// The loaded library, and what all primitives are made for.
pub struct OneDnn {
    stream: Object,
    /// Engine that primitives are made for.
    pub engine: Object,
    // Never closed: the threads that it has started would run code that is no longer there.
    library: ManuallyDrop<libloading::Library>,
}

/// Loads the library; the text says why it is not to be had.
pub fn open() -> Result<OneDnn, String> {
    let library = ManuallyDrop::new(blas::load("libdnnl.so.3", "libdnnl.so.3")?);
    // SAFETY: the types are those of the C interface.
    let made = unsafe {
        let engine = make(&library, b"dnnl_engine_destroy\0", |at| {
            let create: MakeEngine = function(&library, b"dnnl_engine_create\0")?;
            Some(create(at, CPU, 0))
        });
        engine.and_then(|engine| {
            let stream = make(&library, b"dnnl_stream_destroy\0", |at| {
                let create: MakeStream = function(&library, b"dnnl_stream_create\0")?;
                Some(create(at, engine.handle(), IN_ORDER))
            })?;
            Some((engine, stream))
        })
    };
    let (engine, stream) = made.ok_or("libdnnl.so.3 has no engine for the processor")?;
    Ok(OneDnn {
        stream,
        engine,
        library,
    })
}

// SAFETY of the functions below: the types are those of the C interface, and addresses are those
// of arrays as large as the layouts say, by the contract of `Library::prepare`.
impl OneDnn {
    /// The layout of an array whose dimensions lie in memory in this order, the outermost first.
    ///
    /// # Safety
    /// As for [`Library::prepare`].
    pub unsafe fn layout(&self, dims: &[i64], order: &[usize]) -> Option<Object> {
        let mut strides = vec![0; dims.len()];
        let mut stride = 1;
        for &dim in order.iter().rev() {
            strides[dim] = stride;
            stride *= dims[dim];
        }
        // SAFETY: as said above.
        unsafe {
            let name = b"dnnl_memory_desc_create_with_strides\0";
            let create: MakeStrided = function(&self.library, name)?;
            make(&self.library, b"dnnl_memory_desc_destroy\0", |at| {
                let rank = c_int::try_from(dims.len()).ok()?;
                let (dims, strides) = (dims.as_ptr(), strides.as_ptr());
                Some(create(at, rank, dims, SINGLE, strides))
            })
        }
    }

    /// The layout that is left to the library.
    ///
    /// # Safety
    /// As for [`Library::prepare`].
    pub unsafe fn any_layout(&self, dims: &[i64]) -> Option<Object> {
        // SAFETY: as said above.
        unsafe {
            let name = b"dnnl_memory_desc_create_with_tag\0";
            let create: MakeTagged = function(&self.library, name)?;
            make(&self.library, b"dnnl_memory_desc_destroy\0", |at| {
                let rank = c_int::try_from(dims.len()).ok()?;
                Some(create(at, rank, dims.as_ptr(), SINGLE, ANY_FORMAT))
            })
        }
    }

    /// An array, as primitives are applied to.
    ///
    /// # Safety
    /// As for [`Library::prepare`].
    pub unsafe fn memory(&self, layout: Handle, place: *mut c_void) -> Option<Rc<Object>> {
        // SAFETY: as said above.
        unsafe {
            let create: MakeMemory = function(&self.library, b"dnnl_memory_create\0")?;
            let memory = make(&self.library, b"dnnl_memory_destroy\0", |at| {
                Some(create(at, layout, self.engine.handle(), place))
            });
            memory.map(Rc::new)
        }
    }

    /// The description of a primitive.
    ///
    /// # Safety
    /// As for [`Library::prepare`].
    pub unsafe fn described<F: Copy>(
        &self,
        name: &[u8],
        describe: impl FnOnce(F, *mut Handle) -> c_int,
    ) -> Option<Object> {
        // SAFETY: as said above.
        unsafe {
            let create: F = function(&self.library, name)?;
            make(&self.library, b"dnnl_primitive_desc_destroy\0", |at| {
                Some(describe(create, at))
            })
        }
    }

    /// Returns a closure that runs a primitive on arrays.
    ///
    /// # Safety
    /// As for [`Library::prepare`].
    pub unsafe fn runs(
        &self,
        described: &Object,
        on: Vec<(c_int, Rc<Object>)>,
    ) -> Option<Runs<'_>> {
        // SAFETY: as said above.
        unsafe {
            let create: MakePrimitive = function(&self.library, b"dnnl_primitive_create\0")?;
            let execute: Execute = function(&self.library, b"dnnl_primitive_execute\0")?;
            let wait: One = function(&self.library, b"dnnl_stream_wait\0")?;
            let primitive = make(&self.library, b"dnnl_primitive_destroy\0", |at| {
                Some(create(at, described.handle()))
            })?;
            Some(Box::new(move || {
                let on = on.iter().map(|(role, memory)| Argument {
                    role: *role,
                    memory: memory.handle(),
                });
                let on: Vec<Argument> = on.collect();
                let stream = self.stream.handle();
                // A failure leaves the result poisoned, which is found when it is compared.
                execute(primitive.handle(), stream, on.len() as c_int, on.as_ptr());
                wait(stream);
            }))
        }
    }

    /// The layout that a primitive is to find its weights in.
    ///
    /// # Safety
    /// As for [`Library::prepare`]; it is gone when the description is.
    pub unsafe fn weights(&self, described: &Object) -> Option<Handle> {
        // SAFETY: as said above.
        unsafe {
            let query: QueryMemory = function(&self.library, b"dnnl_primitive_desc_query_md\0")?;
            Some(query(described.handle(), LAYOUT_OF_WEIGHTS, 0))
        }
    }
}
