// One pass over the layers in execution order. The rows of a product are its multiply-accumulates
// over its weights; what becomes of its output follows from the layer behind it.

#include "layers/activations.hpp"

#include "base/collected.hpp"
#include "layers/layer_units.hpp"

#include <cassert>

namespace stepsim::layers {

namespace {

constexpr double kMaskBytes = 1;  // of dropout, per value, in a kernel of its own
constexpr double kFloatBytes = 4; // log-softmax, sums of a softmax
constexpr double kChunks = 8;     // of a loss in chunks

double dimension(const ModelLayer& layer, std::size_t from_last) {
  const std::vector<std::int64_t>& shape = layer.tensors.front().shape;
  return shape.size() > from_last ? static_cast<double>(shape[shape.size() - 1 - from_last]) : 1;
}

double elements_of(const ModelTensor& tensor) { return static_cast<double>(tensor.elements()); }

// "h.0.attn" of "h.0.attn.c_attn"
std::string_view module_of(const ModelLayer& layer) {
  const std::string_view name = layer.name;
  const std::size_t dot = name.rfind('.');
  return name.substr(0, dot == std::string_view::npos ? 0 : dot);
}

std::vector<std::int64_t> embedding_of(const ModelTable& table) {
  const auto found = std::ranges::find(table.layers, "embedding", &ModelLayer::kind);
  return found != table.layers.end() && !found->tensors.empty() ? found->tensors.front().shape
                                                                : std::vector<std::int64_t>{};
}

bool is_norm(const ModelLayer& layer) {
  return layer.kind == "layernorm" || layer.kind == "rmsnorm";
}

class ActivationPass {
public:
  ActivationPass(const ModelTable& table, const ActivationOptions& options)
      : options_(options), width_(options.value_bytes), made_(table.layers.size()) {
    for (const std::size_t index : table.execution_order()) {
      layers_.push_back(&table.layers[index]);
    }
    const auto any = [&](std::string_view kind) {
      return std::ranges::find(table.layers, kind, &ModelLayer::kind) != table.layers.end();
    };
    dropout_ = any("layernorm") && !table.image;
    if (dropout_) {
      mask_ = options.kernels == Kernels::tensorflow ? width_ : kMaskBytes;
    }
    sequence_ = any("attention");
    rows_ = options.samples *
            (table.sequence ? static_cast<double>(table.sequence->sequence_length) : 1);
    embedding_ = embedding_of(table);
    outputs_ = table.image ? static_cast<double>(table.image->channels) *
                                 static_cast<double>(table.image->height) *
                                 static_cast<double>(table.image->width)
                           : 0;
  }

  [[nodiscard]] std::vector<LayerActivations> run() {
    for (std::size_t l = 0; l < layers_.size(); l = next_) {
      next_ = l + 1;
      const ModelLayer& layer = *layers_[l];
      if (layer.kind == "linear" && !layer.tensors.empty() && layer.macs > 0) {
        products(l);
      } else if (layer.kind == "attention") {
        attention(l);
      } else if (layer.kind == "tied_decoder") {
        const double words = embedding_.empty() ? 1 : static_cast<double>(embedding_.front());
        keep_input(l, macs(layer) / words);
        head(l, macs(layer) / (embedding_.empty() ? 1 : static_cast<double>(embedding_.back())));
      } else if (layer.kind == "experts" && !layer.tensors.empty()) {
        experts(l);
      } else if (is_norm(layer) && !layer.tensors.empty()) {
        norm(l);
      } else if (layer.kind == "conv" && !layer.tensors.empty()) {
        convolution(l);
      } else if (layer.kind == "batchnorm") {
        keep_input(l, options_.samples * outputs_);
      } else if (layer.kind == "groupnorm" && !layer.tensors.empty()) {
        // Of a U-Net: what it makes is read by an activation, unless a product follows.
        const ModelLayer* after = behind(next_);
        const bool activates = after != nullptr && after->kind == "conv";
        keep_input(l, (activates ? 2 : 1) * options_.samples * dimension(layer, 0) * positions_);
      } else if (layer.kind == "lstm" && layer.tensors.size() > 1) {
        const double gates = dimension(layer, 1);
        keep_input(l, rows_ * dimension(layer, 0));
        made_[l].kept += width_ * rows_ * (gates + gates / 2); // gates; state and its tanh
      }
    }
    return std::move(made_);
  }

private:
  [[nodiscard]] double macs(const ModelLayer& layer) const {
    return options_.samples * static_cast<double>(layer.macs);
  }
  [[nodiscard]] const ModelLayer* behind(std::size_t l) const {
    return l < layers_.size() ? layers_[l] : nullptr;
  }

  void keep_input(std::size_t l, double values) {
    made_[l].kept += width_ * values;
    made_[l].input = width_ * values;
  }

  // Where inputs are joined there are more channels than the last convolution made.
  void convolution(std::size_t l) {
    const ModelLayer& layer = *layers_[l];
    const std::vector<std::int64_t>& shape = layer.tensors.front().shape;
    positions_ = static_cast<double>(layer.macs) / elements_of(layer.tensors.front());
    const double read = shape.size() > 1 ? static_cast<double>(shape[1]) * positions_ : 0;
    keep_input(l, options_.samples * std::max(outputs_, read));
    outputs_ = positions_ * static_cast<double>(shape.front());
  }

  // `logits`: number of values that the head makes.
  void head(std::size_t l, double logits) {
    switch (options_.loss) {
    case Loss::eager:
      made_[l].kept += kFloatBytes * logits;
      made_[l].again += 2 * kFloatBytes * logits;
      break;
    case Loss::compiled:
      made_[l].kept += width_ * logits;
      made_[l].again += width_ * logits;
      break;
    case Loss::chunked:
      made_[l].again += 3 * kFloatBytes * logits / kChunks;
      break;
    }
  }

  [[nodiscard]] double rows_of(const ModelLayer& layer) const {
    return macs(layer) / elements_of(layer.tensors.front());
  }

  // The products of a module that share their input, from layer `first` on.
  void products(std::size_t first) {
    const ModelLayer& one = *layers_[first];
    rows_ = rows_of(one);
    keep_input(first, rows_ * dimension(one, 0));
    made_[first].product = width_ * rows_ * dimension(one, 1);
    while (const ModelLayer* other = behind(next_)) {
      if (!sequence_ || other->kind != "linear" || module_of(*other) != module_of(one) ||
          dimension(*other, 0) != dimension(one, 0) || rows_of(*other) != rows_) {
        break;
      }
      made_[next_].product = width_ * rows_ * dimension(*other, 1);
      made_[next_++].input = made_[first].input;
    }
    const ModelLayer* after = behind(next_);
    if (one.tensors.front().shape == embedding_) {
      head(first, rows_ * dimension(one, 1));
    } else if (after != nullptr && is_norm(*after) && dimension(*after, 0) == dimension(one, 1)) {
      made_[first].kept += mask_ * rows_ * dimension(one, 1);
    } else if (sequence_ && after != nullptr && after->kind != "tied_decoder") {
      keep_outputs(first, after->kind == "linear");
    }
  }

  [[nodiscard]] bool is_composed() const { return options_.kernels != Kernels::fused; }

  void keep_outputs(std::size_t first, bool activates) {
    heads_from_ = first;
    for (std::size_t l = first; l < next_; ++l) {
      made_[l].kept += width_ * rows_ * dimension(*layers_[l], 1);
    }
    if (activates && next_ - first > 1) { // gated: silu(gate) beside gate and up
      made_[first].kept += width_ * rows_ * dimension(*layers_[first], 1);
    } else if (activates && is_composed()) {
      made_[first].kept += 2 * width_ * rows_ * dimension(*layers_[first], 1);
    }
  }

  // A norm of each head has the width of a head: it follows the products of queries and keys.
  void norm(std::size_t l) {
    const double width = dimension(*layers_[l], 0);
    const bool of_heads = l > 0 && heads_from_ < l && layers_[heads_from_]->kind == "linear" &&
                          module_of(*layers_[heads_from_]) == module_of(*layers_[l]) &&
                          dimension(*layers_[heads_from_], 1) != width;
    keep_input(l, rows_ * (of_heads ? dimension(*layers_[heads_from_], 1) : width));
    const double bytes = options_.autocast ? kFloatBytes : width_;
    made_[l].kept *= (!is_composed()                    ? bytes
                      : layers_[l]->kind == "layernorm" ? 3 * bytes
                                                        : kFloatBytes + bytes) /
                     width_;
    heads_from_ += of_heads ? 1 : 0;
  }

  // The product behind attention reads its result, so that its input tells the width.
  void attention(std::size_t l) {
    const ModelLayer& layer = *layers_[l];
    const ModelLayer* after = behind(next_);
    const auto heads = static_cast<double>(layer.heads);
    const bool known = after != nullptr && after->kind == "linear" && !after->tensors.empty();
    const double width = known ? dimension(*after, 0) : 1;
    const double rows = known ? rows_of(*after) : rows_; // keys may have others
    made_[l].input = width_ * rows * width;
    if (options_.attention == Attention::flash) {
      made_[l].kept += kFloatBytes * rows * heads;
      made_[l].attention = made_[l].input + made_[l].kept;
      return;
    }
    const double scores = heads * macs(layer) / (2 * width);
    const double softmax = options_.autocast ? kFloatBytes : width_;
    made_[l].scores = scores * (softmax + mask_ + (dropout_ || options_.autocast ? width_ : 0));
    made_[l].kept += made_[l].scores;
  }

  // Rows go to the chosen experts: there are as many in each, whatever their number.
  void experts(std::size_t l) {
    const ModelLayer& layer = *layers_[l];
    const double weights = base::sum_of<double>(layer.tensors, elements_of);
    const double rows =
        macs(layer) / weights * static_cast<double>(layer.tensors.front().shape.front());
    double values = dimension(layer, 0);
    for (std::size_t t = 0; t + 1 < layer.tensors.size(); ++t) {
      const std::vector<std::int64_t>& shape = layer.tensors[t].shape;
      values += shape.size() > 1 ? static_cast<double>(shape[shape.size() - 2]) : 0;
    }
    values += static_cast<double>(layer.tensors.back().shape.back());
    keep_input(l, rows * values);
  }

  ActivationOptions options_;
  double width_;
  std::vector<LayerActivations> made_;
  std::vector<const ModelLayer*> layers_; // in execution order
  std::vector<std::int64_t> embedding_;   // shape of the first one, vocabulary x width
  bool dropout_ = false, sequence_ = false;
  double mask_{};              // of dropout, bytes per value
  double rows_{};              // of the last product, in all samples
  double outputs_{};           // values that the last convolution made of a sample
  double positions_{};         // and in how many places
  std::size_t next_ = 0;       // layer after those that are done
  std::size_t heads_from_ = 0; // product whose output the next norm of heads reads
};

} // namespace

std::vector<LayerActivations> layer_activations(const ModelTable& table,
                                                const ActivationOptions& options) {
  assert((options.attention == Attention::flash || has_heads(table)) &&
         "the reader has checked that the table has heads");
  return ActivationPass(table, options).run();
}

bool has_heads(const ModelTable& table) {
  return std::ranges::none_of(table.layers, [](const ModelLayer& layer) {
    return layer.kind == "attention" && layer.heads == 0;
  });
}

bool has_output_head(const ModelTable& table) {
  const std::vector<std::int64_t> embedding = embedding_of(table);
  return std::ranges::any_of(table.layers, [&](const ModelLayer& layer) {
    return layer.kind == "tied_decoder" || (layer.kind == "linear" && !layer.tensors.empty() &&
                                            layer.tensors.front().shape == embedding);
  });
}

std::vector<LayerActivations> recomputed(std::vector<LayerActivations> layers, Recompute recompute,
                                         const std::vector<std::uint32_t>& begins) {
  if (recompute == Recompute::selective) {
    for (LayerActivations& layer : layers) {
      layer.kept -= layer.scores;
      layer.again += layer.scores;
    }
  }
  if (recompute != Recompute::full && recompute != Recompute::selective_op) {
    return layers;
  }
  for (std::size_t u = 0; u < begins.size(); ++u) {
    const auto begin = layers.begin() + begins[u];
    const auto end = u + 1 < begins.size() ? layers.begin() + begins[u + 1] : layers.end();
    double all = 0;
    double saved = 0;
    bool has_head = false;
    bool saves = true; // the next product
    for (auto layer = begin; layer != end; ++layer) {
      all += layer->kept;
      has_head = has_head || layer->again > 0;
      saved += layer->attention + (saves ? layer->product : 0);
      saves = saves != (layer->product > 0);
    }
    if (has_head) {
      continue;
    }
    const auto reads = std::find_if(begin, end, [](const auto& each) { return each.input > 0; });
    const double input = reads == end ? 0 : reads->input;
    const double kept = input + (recompute == Recompute::selective_op ? saved : 0);
    for (auto layer = begin; layer != end; ++layer) {
      layer->kept = layer == begin ? kept : 0;
      layer->again = std::max(0.0, all - kept);
    }
  }
  return layers;
}

StepPeak step_peak(const std::vector<LayerActivations>& layers,
                   const std::vector<double>& gradients) {
  StepPeak now;
  for (const LayerActivations& layer : layers) {
    now.activations += layer.kept;
  }
  StepPeak peak = now;
  for (std::size_t l = gradients.size(); l-- > 0;) {
    const LayerActivations layer = l < layers.size() ? layers[l] : LayerActivations{};
    now.gradients += gradients[l];
    if (now.activations + layer.again + now.gradients >= peak.activations + peak.gradients) {
      peak = {now.activations + layer.again, now.gradients};
    }
    now.activations -= layer.kept;
  }
  return peak;
}

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
