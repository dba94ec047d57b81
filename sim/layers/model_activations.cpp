#include "layers/model_activations.hpp"

#include "layers/layer_units.hpp"

namespace stepsim::layers {

void add_activations(const ModelTable& table, const ProfileOptions& options, Workload& workload) {
  const auto made = [&](Loss loss, Kernels kernels, bool autocast) {
    return recomputed(layer_activations(table, {.samples = static_cast<double>(options.batch_size),
                                                .value_bytes = 1.0 * options.activation_bytes(),
                                                .attention = options.attention,
                                                .loss = options.loss.value_or(loss),
                                                .kernels = options.kernels.value_or(kernels),
                                                .autocast = autocast}),
                      options.estimate ? options.estimate->recompute : Recompute::none,
                      unit_begins(workload, {}));
  };
  const std::vector<double> none(workload.layers.size());
  const auto peak = [&](Loss loss, Kernels kernels, bool autocast) {
    return step_peak(made(loss, kernels, autocast), none).activations;
  };
  for (const bool autocast : {false, true}) {
    auto& usual = autocast ? workload.autocast_activations : workload.activations;
    auto& range = autocast ? workload.autocast_range : workload.activation_range;
    usual.edit() = made(Loss::eager, Kernels::fused, autocast);
    if (const double bytes = step_peak(usual, none).activations; bytes > 0) {
      range = {.least = peak(Loss::chunked, Kernels::fused, autocast) / bytes,
               .most = peak(Loss::eager, Kernels::composed, autocast) / bytes};
    }
  }
}

} // namespace stepsim::layers
