//! A value shared by several readers of one model.

/// A locked value: a mutex, or a cell without the standard library.
#[derive(Debug, Default)]
pub(crate) struct Lock<T>(Inner<T>);

#[cfg(feature = "std")]
type Inner<T> = std::sync::Mutex<T>;
#[cfg(not(feature = "std"))]
type Inner<T> = core::cell::RefCell<T>;

impl<T> Lock<T> {
    pub(crate) fn new(value: T) -> Self {
        Lock(Inner::new(value))
    }

    /// Runs `with` on the value. It must not lock the same value again.
    pub(crate) fn with<R>(&self, with: impl FnOnce(&mut T) -> R) -> R {
        #[cfg(feature = "std")]
        let mut value = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        #[cfg(not(feature = "std"))]
        let mut value = self.0.borrow_mut();
        with(&mut value)
    }
}
