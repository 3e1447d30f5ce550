// Activation functions. Host code and GPU kernels use the same names.
#pragma once

namespace parbench {

/// Functions of one element x. Φ is the distribution function of the standard normal distribution.
enum class ActivationKind {
  relu,       // max(x, 0)
  gelu,       // x·Φ(x), by erf (Hendrycks, Gimpel 2016: "Gaussian Error Linear Units")
  gelu_tanh,  // the paper's approximation: x/2·(1 + tanh(sqrt(2/π)·(x + 0.044715·x³)))
  sigmoid,    // 1/(1 + exp(−x))
  tanh,
  clip  // min(max(x, low), high); ReLU6 if low = 0 and high = 6
};

/// Returns true if the backward pass reads the input of the forward pass, false if it reads the
/// output.
[[nodiscard]] constexpr bool backward_reads_source(ActivationKind kind) {
  return kind == ActivationKind::gelu || kind == ActivationKind::gelu_tanh ||
         kind == ActivationKind::clip;
}

}  // namespace parbench
