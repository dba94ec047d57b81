#pragma once
// The keys of a model table (kind model, MOD 3): a network as its layers in registration order,
// with the shape of every parameter tensor and the multiply-accumulates (MACs) of every layer. The
// tables in models/ are written by models/generate.py, and users may add others. /workload/model of
// a scenario names a table, and `stepsim models` and `stepsim import --model` read it.
//
//     {"kind": "model", "name": "tiny", "input": {"channels": 3, "height": 1, "width": 1},
//      "layers": [{"name": "fc", "kind": "linear", "macs": 12,
//                  "tensors": [{"name": "weight", "shape": [3, 4]}]}]}

#include "document/fields/schema.hpp"
#include "layers/model_table.hpp"

namespace stepsim::io::keys {

using namespace rows;

// A weight of experts has three dimensions, the number of experts first; its multiply-accumulates
// are those of the chosen experts only.
inline constexpr std::array<std::string_view, 11> kLayerKinds{
    "conv",      "linear",    "batchnorm",    "groupnorm", "layernorm", "rmsnorm",
    "embedding", "attention", "tied_decoder", "lstm",      "experts"};
// The longest sequence that a table may have, in tokens.
inline constexpr double kMaxTokens = 0x1p20;

inline constexpr std::array kModelShape{
    integer("shape", "Number of elements along a dimension.", at_least(1)).example("64")};
inline constexpr std::array kModelTensor{
    text("name", "Name of the tensor in its layer.").example(R"("weight")").required(),
    list("shape", kModelShape, "Shape of the tensor; 2^53 elements at most.")
        .sizes(1)
        .example("[64, 3, 7, 7]")
        .required()};
inline constexpr std::array kModelTensors{object("tensors", kModelTensor, "One parameter tensor.")};

inline constexpr std::array kModelLayer{
    text("name", "Name of the layer.").example(R"("conv1")").required(),
    word("kind", kLayerKinds, "Kind of the layer.").required(),
    integer("macs", "Multiply-accumulates of the forward pass per sample.", between(0, kMostExact))
        .example("118013952")
        .required(),
    word("scales_with", layers::kMacScalings,
         "How the multiply-accumulates grow: per sample, or with the number of tokens or its "
         "square.")
        .by_default(layers::kMacScalings[layers::MacScaling::sample]),
    integer("heads", "Attention: number of heads.", at_least(1)).nullable().example("12"),
    integer("execution_index",
            "Position in the forward pass from 1, where the layers run in another order than they "
            "are listed. Every layer has one then.",
            at_least(1))
        .nullable()
        .example("1"),
    list("tensors", kModelTensors, "Parameter tensors of the layer.")
        .example(R"([{"name": "weight", "shape": [3, 4]}])")
        .required()};
inline constexpr std::array kModelLayers{object("layers", kModelLayer, "One layer.")};

// The two forms of `input`: a sequence if it has the key sequence_length, else an image.
inline constexpr std::array kImageInput{
    integer("channels", "Number of channels.", at_least(1)).example("3").required(),
    integer("height", "Height, pixels.", at_least(1)).example("224").required(),
    integer("width", "Width, pixels.", at_least(1)).example("224").required()};
inline constexpr std::array kSequenceInput{
    integer("sequence_length", "Number of tokens to which the multiply-accumulates belong.",
            between(1, kMaxTokens))
        .example("128")
        .required(),
    integer("max_sequence_length",
            "Largest number of tokens. A recurrent network has none and leaves the key out.",
            between(1, kMaxTokens))
        .example("512"),
    boolean(
        "causal",
        "Whether a token attends to earlier tokens alone. Multiply-accumulates count all pairs; "
        "estimates of time count half of them then.")
        .by_default(false)};
inline constexpr Key kImage = object("input", kImageInput, "An image.");
inline constexpr Key kSequence = object("input", kSequenceInput, "A sequence of tokens.");
inline constexpr std::array kModelInputs{kImage, kSequence};

inline constexpr std::array kModelTotals{
    integer("elements", "Number of parameters.", at_least(0)).example("12"),
    integer("tensors", "Number of parameter tensors.", at_least(0)).example("1"),
    integer("layers", "Number of layers.", at_least(0)).example("1"),
    integer("macs", "Multiply-accumulates of all layers.", at_least(0)).example("12")};

inline constexpr std::array kModelKeys{
    text("name", "Name of the network, by which scenarios find a shipped table.")
        .example(R"("resnet50")")
        .required(),
    text("family", "Family of networks that the network belongs to.").example(R"("resnet")"),
    text("source", "Where the definition of the network comes from.")
        .example(R"("torchvision resnet50")"),
    either("input", kModelInputs, "One sample: an image or a sequence of tokens.")
        .example(R"({"channels": 3, "height": 224, "width": 224})")
        .required(),
    object("totals", kModelTotals, "Sums over the layers, which the reader compares with them.")
        .example(R"({"elements": 12, "tensors": 1, "layers": 1, "macs": 12})"),
    list("layers", kModelLayers, "Layers in the order in which the framework registers them.")
        .sizes(1)
        .example(
            R"([{"name": "fc", "kind": "linear", "macs": 12, "tensors": [{"name": "weight", "shape": [3, 4]}]}])")
        .required()};

inline constexpr Key kModel =
    object("model", kModelKeys,
           "A network as a table: parameter tensors and multiply-accumulates of every layer, in "
           "registration order.");

[[nodiscard]] FileKind model_file();

} // namespace stepsim::io::keys
