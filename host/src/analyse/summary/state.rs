//! The size of the state in layers with a fixed-size state.

use super::facts::{Fact, Settings};

/// Layers that keep a state, whose size does not depend on the number of positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct CacheState {
    /// Number of layers.
    pub layers: u64,
    /// Elements that each layer keeps per sequence, if known.
    pub elements: Option<u64>,
}

impl CacheState {
    /// Bytes per sequence in `f32`, the type that llama.cpp uses.
    ///
    /// ```
    /// use weighbridge::{Summariser, Value};
    ///
    /// let mut summariser = Summariser::default();
    /// summariser.metadata("general.architecture", &Value::from("mamba"));
    /// for (key, value) in [
    ///     ("mamba.block_count", 48),
    ///     ("mamba.ssm.conv_kernel", 4),
    ///     ("mamba.ssm.inner_size", 3072),
    ///     ("mamba.ssm.state_size", 16),
    /// ] {
    ///     summariser.metadata(key, &Value::Int(value));
    /// }
    /// let state = summariser.finish().cache.unwrap().state.unwrap();
    /// assert_eq!(state.bytes(), Some(48 * (3 * 3072 + 16 * 3072) * 4));
    /// ```
    pub fn bytes(&self) -> Option<u64> {
        self.elements?.checked_mul(self.layers)?.checked_mul(4)
    }
}

/// Dimensions of a recurrence and of the convolution before it.
struct Dims {
    conv: u64,
    inner: u64,
    groups: u64,
    state: u64,
}

impl Dims {
    /// Elements kept; the convolution keeps all positions of its kernel but one.
    fn elements(&self) -> Option<u64> {
        let both = self.groups.checked_mul(2)?.checked_mul(self.state)?;
        let conv = self.conv.checked_sub(1)?.checked_mul(self.inner.checked_add(both)?)?;
        conv.checked_add(self.state.checked_mul(self.inner)?)
    }
}

/// Elements of a layer's state, if the settings give them.
pub(super) fn elements(settings: &Settings, facts: &[Fact]) -> Option<u64> {
    let hidden = Fact::number(facts, "embedding_length");
    if settings.architecture().is_some() {
        let number = |key: &str| settings.number(key);
        if let Some(kept) = number("shortconv.l_cache") {
            return kept.checked_sub(1)?.checked_mul(hidden?);
        }
        // Kimi and RWKV have states of other forms.
        if settings.has_prefix("kda.") || settings.has_prefix("wkv.") {
            return None;
        }
        let groups = number("ssm.group_count").unwrap_or(0);
        let (conv, inner) = (number("ssm.conv_kernel")?, number("ssm.inner_size")?);
        return Dims { conv, inner, groups, state: number("ssm.state_size")? }.elements();
    }
    let number = |key: &str| settings.configured_number(key);
    let product = |a: &str, b: &str| number(a)?.checked_mul(number(b)?);
    if let Some(kept) = number("conv_L_cache") {
        return kept.checked_sub(1)?.checked_mul(hidden?);
    }
    let dims = if number("mamba_num_heads").is_some() {
        // Nemotron-H.
        let either = |a: &str, b: &str| number(a).or_else(|| number(b));
        let (conv, groups) =
            (either("conv_kernel", "mamba_d_conv")?, either("n_groups", "mamba_n_groups")?);
        let inner = product("mamba_num_heads", "mamba_head_dim")?;
        Dims { conv, inner, groups, state: number("ssm_state_size")? }
    } else if number("mamba_n_heads").is_some() {
        // Bamba, Granite, Falcon-H1.
        let automatic = settings
            .configured("mamba_d_head")
            .is_none_or(|(_, value)| value.as_str() == Some("auto"));
        let inner = match automatic {
            true => number("mamba_expand")?.checked_mul(hidden?)?,
            false => product("mamba_n_heads", "mamba_d_head")?,
        };
        let (conv, groups) = (number("mamba_d_conv")?, number("mamba_n_groups")?);
        Dims { conv, inner, groups, state: number("mamba_d_state")? }
    } else if number("linear_num_key_heads").is_some() {
        // Qwen3-Next.
        let inner = product("linear_num_value_heads", "linear_value_head_dim")?;
        let (conv, groups) = (number("linear_conv_kernel_dim")?, number("linear_num_key_heads")?);
        Dims { conv, inner, groups, state: number("linear_key_head_dim")? }
    } else {
        // Jamba: Mamba without groups.
        let inner = number("mamba_expand")?.checked_mul(hidden?)?;
        Dims { conv: number("mamba_d_conv")?, inner, groups: 0, state: number("mamba_d_state")? }
    };
    dims.elements()
}
