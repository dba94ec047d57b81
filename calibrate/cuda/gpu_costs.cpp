// From fitted kernels to `compression_costs` (SPA 8.2, 9), under the names of a scenario's
// `compression.costs`. What did not fit is left out.
#include "calibrate/cuda/gpu_costs.hpp"

#include <array>

#include "calibrate/cuda/codec_math.hpp"

namespace stepsim::calibrate::gpu {

namespace {

using Kernels = std::vector<const KernelFit*>; // run one after the other

// Empty where one is missing or did not fit.
Kernels find_all(const GpuFit& fit, std::initializer_list<std::string_view> names,
                 std::string_view distribution) {
  Kernels kernels;
  for (const std::string_view name : names) {
    const KernelFit* found = fit.find(name, distribution);
    if (found == nullptr || found->grade == Grade::fail) {
      return {};
    }
    kernels.push_back(found);
  }
  return kernels;
}

// The sum of one constant over kernels that run one after the other.
double sum(const Kernels& kernels, double KernelFit::*constant) {
  double all = 0;
  for (const KernelFit* kernel : kernels) {
    all += kernel->*constant;
  }
  return all;
}

// t = select_s + select_s_per_element m + select_s_per_entry k.
void add_select(io::Json& costs, const Kernels& kernels) {
  if (!kernels.empty()) {
    costs.set("select_s", sum(kernels, &KernelFit::c0_s));
    costs.set("select_s_per_element", sum(kernels, &KernelFit::c1_s_per_element));
    costs.set("select_s_per_entry", sum(kernels, &KernelFit::c2_s_per_entry));
  }
}

// The costs of an encoder, which goes over all elements and selects nothing. A kernel `beside` goes
// over something small: only its constant counts.
void add_encode(io::Json& costs, const Kernels& kernels, const KernelFit* beside = nullptr) {
  if (!kernels.empty()) {
    costs.set("select_s",
              sum(kernels, &KernelFit::c0_s) + (beside != nullptr ? beside->c0_s : 0.0));
    costs.set("select_s_per_element", sum(kernels, &KernelFit::c1_s_per_element));
  }
}

// Per entry of a list, or (`constant`) of all lists.
void add_lists(io::Json& costs, std::string_view prefix, const Kernels& kernels,
               double KernelFit::*constant = &KernelFit::c2_s_per_entry) {
  if (!kernels.empty()) {
    costs.set(std::string(prefix) + "_s", sum(kernels, &KernelFit::c0_s));
    costs.set(std::string(prefix) + "_s_per_entry", sum(kernels, constant));
  }
}

// A method for which nothing was measured has no entry.
void add_method(io::Json& costs, std::string_view method, io::Json values) {
  if (!values.as_object().empty()) {
    costs.set(method, std::move(values));
  }
}

// Which kernel a method selects with. Every selector was timed on Gaussian and on heavy-tailed
// values; a scenario takes the times of the Gaussian ones. The methods that exchange selected
// entries in different ways select with the same kernel.
void add_selectors(io::Json& costs, const GpuFit& fit) {
  struct Selector {
    std::string_view method;
    std::string_view kernel;
  };
  constexpr std::array kSelectors{Selector{"topk", "radix_select"},
                                  Selector{"dgc", "sampled_threshold"},
                                  Selector{"gaussian_k", "gaussian_k"},
                                  Selector{"gtopk_tree", "radix_select"},
                                  Selector{"gtopk_butterfly", "radix_select"},
                                  Selector{"gtopk_exact", "radix_select"},
                                  Selector{"sparcml_rd", "radix_select"},
                                  Selector{"sparcml_split", "radix_select"},
                                  Selector{"topk_dsa", "radix_select"},
                                  Selector{"ok_topk", "threshold_reuse"},
                                  Selector{"hierarchical_topk", "radix_select"}};
  for (const Selector& selector : kSelectors) {
    io::Json values{io::Object{}};
    add_select(values, find_all(fit, {selector.kernel}, "gaussian"));
    add_method(costs, selector.method, std::move(values));
  }
}

// Both products go over the matrix. Gram-Schmidt goes over one factor, a few of its columns: it
// counts by its start-up. Decoding writes every element once.
io::Json low_rank_costs(const GpuFit& fit) {
  io::Json costs{io::Object{}};
  if (const Kernels orthogonal = find_all(fit, {"powersgd_orthogonalize_r4"}, "any");
      !orthogonal.empty()) {
    add_encode(costs, find_all(fit, {"powersgd_left_r4", "powersgd_right_r4"}, "any"),
               orthogonal.front());
  }
  add_lists(costs, "scatter", find_all(fit, {"powersgd_decode_r4"}, "any"),
            &KernelFit::c1_s_per_element);
  return costs;
}

// Decoding takes the place of adding lists of scattered entries, which `any` has: of buckets and
// signsgd it goes over the m entries of all P ranks, and they keep no residual.
void add_encoders(io::Json& costs, const GpuFit& fit) {
  add_method(costs, "powersgd", low_rank_costs(fit));
  struct Encoder {
    std::string_view method, encode, decode;
  };
  constexpr std::array kEncoders{Encoder{kBucketCodec, "qsgd8_encode", "qsgd8_decode"},
                                 Encoder{"signsgd", "pack_signs", "vote_signs"}};
  for (const Encoder& encoder : kEncoders) {
    io::Json values{io::Object{}};
    add_encode(values, find_all(fit, {encoder.encode}, "any"));
    add_lists(values, "scatter", find_all(fit, {encoder.decode}, "any"));
    if (!values.as_object().empty()) {
      values.set("residual_s_per_element", 0);
    }
    add_method(costs, encoder.method, std::move(values));
  }
}

} // namespace

io::Json compression_costs(const GpuFit& fit) {
  io::Json costs{io::Object{}};
  io::Json any{io::Object{}};
  if (const Kernels residual = find_all(fit, {"residual_update"}, "any"); !residual.empty()) {
    any.set("residual_s_per_element", sum(residual, &KernelFit::c1_s_per_element));
  }
  add_lists(any, "merge", find_all(fit, {"merge"}, "any"));
  add_lists(any, "scatter", find_all(fit, {"scatter_add"}, "any"));
  add_method(costs, "any", std::move(any));
  add_selectors(costs, fit);
  add_encoders(costs, fit);
  return costs;
}

} // namespace stepsim::calibrate::gpu
