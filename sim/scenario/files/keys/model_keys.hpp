#pragma once
// The keys of a model table (kind model, MOD 3): a network as its layers in registration order,
// with the shape of every parameter tensor and the multiply-accumulates (MACs) of every layer. The
// tables in models/ are written by models/generate.py, and users may add others. /workload/model of
// a scenario names a table, and `stepsim models` and `stepsim import --model` read it.
//
//     {"kind": "model", "name": "tiny", "input": {"channels": 3, "height": 1, "width": 1},
//      "layers": [{"name": "fc", "kind": "linear", "macs": 12,
//                  "tensors": [{"name": "weight", "shape": [3, 4]}]}]}
#include "collectives/compress/compression.hpp"
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
    integer("shape", "Number of elements along a dimension.", at_least(1), "64")};
inline constexpr std::array kModelTensor{
    text("name", "Name of the tensor in its layer.", R"("weight")").required(),
    list("shape", kModelShape, "Shape of the tensor; 2^53 elements at most.", "[64, 3, 7, 7]")
        .sizes(1)
        .required()};
inline constexpr std::array kModelTensors{object("tensors", kModelTensor, "One parameter tensor.")};

inline constexpr std::array kModelLayer{
    text("name", "Name of the layer.", R"("conv1")").required(),
    word("kind", kLayerKinds, "Kind of the layer.").required(),
    integer("macs", "Multiply-accumulates of the forward pass per sample.", between(0, kMostExact),
            "118013952")
        .required(),
    word("scales_with", layers::kMacScalings,
         "How the multiply-accumulates grow: per sample, or with the number of tokens or its "
         "square.")
        .by_default(layers::kMacScalings[layers::MacScaling::sample]),
    integer("heads", "Attention: number of heads.", at_least(1), "12").nullable(),
    integer("execution_index",
            "Position in the forward pass from 1, where the layers run in another order than they "
            "are listed. Every layer has one then.",
            at_least(1), "1")
        .nullable(),
    list("tensors", kModelTensors, "Parameter tensors of the layer.",
         R"([{"name": "weight", "shape": [3, 4]}])")
        .required()};
inline constexpr std::array kModelLayers{object("layers", kModelLayer, "One layer.")};

// The two forms of `input`: a sequence if it has the key sequence_length, else an image.
inline constexpr std::array kImageInput{
    integer("channels", "Number of channels.", at_least(1), "3").required(),
    integer("height", "Height, pixels.", at_least(1), "224").required(),
    integer("width", "Width, pixels.", at_least(1), "224").required()};
inline constexpr std::array kSequenceInput{
    integer("sequence_length", "Number of tokens to which the multiply-accumulates belong.",
            between(1, kMaxTokens), "128")
        .required(),
    integer("max_sequence_length",
            "Largest number of tokens. A recurrent network has none and leaves the key out.",
            between(1, kMaxTokens), "512"),
    boolean("causal", "Whether a token attends to earlier tokens alone. Multiply-accumulates count "
                      "all pairs; estimates of time count half of them then.")
        .by_default(false)};
inline constexpr Key kImage = object("input", kImageInput, "An image.");
inline constexpr Key kSequence = object("input", kSequenceInput, "A sequence of tokens.");
inline constexpr std::array kModelInputs{kImage, kSequence};

inline constexpr std::array kModelTotals{
    integer("elements", "Number of parameters.", at_least(0), "12"),
    integer("tensors", "Number of parameter tensors.", at_least(0), "1"),
    integer("layers", "Number of layers.", at_least(0), "1"),
    integer("macs", "Multiply-accumulates of all layers.", at_least(0), "12")};

inline constexpr std::array kModelKeys{
    text("name", "Name of the network, by which scenarios find a shipped table.", R"("resnet50")")
        .required(),
    text("family", "Family of networks that the network belongs to.", R"("resnet")"),
    text("source", "Where the definition of the network comes from.", R"("torchvision resnet50")"),
    either("input", kModelInputs, "One sample: an image or a sequence of tokens.",
           R"({"channels": 3, "height": 224, "width": 224})")
        .required(),
    object("totals", kModelTotals, "Sums over the layers, which the reader compares with them.",
           R"({"elements": 12, "tensors": 1, "layers": 1, "macs": 12})"),
    list(
        "layers", kModelLayers, "Layers in the order in which the framework registers them.",
        R"([{"name": "fc", "kind": "linear", "macs": 12, "tensors": [{"name": "weight", "shape": [3, 4]}]}])")
        .sizes(1)
        .required()};

inline constexpr Key kModel = object("model", kModelKeys,
                                     "A network as a table: parameter tensors and "
                                     "multiply-accumulates of every layer, in registration order.");

[[nodiscard]] FileKind model_file();

// The keys of a file of measured training speeds (kind measured_training, SPA 10.2): the samples
// per second of a cluster with a compression method, and the parts of the time of one update. Such
// files are written by hand from publications, as NAME.measured.json in traces/. `stepsim check`
// reads them, and docs/gtopk_table.py compares them with the predictions of the simulator.

using namespace rows;

// One update of one rank, split into GPU compute, compression and the rest.
inline constexpr std::array kMeasuredPhasesKeys{
    integer("ranks", "Number of ranks of this measurement.", at_least(1), "32").required(),
    word("method", collectives::compression_names, "Compression method of this measurement.",
         R"("gtopk_tree")"),
    number("compute_s", "Time of the forward and the backward pass, s.", at_least(0), "0.139536")
        .required(),
    number("compress_s", "Time to select entries and to update the residual, s.", at_least(0),
           "0.091353")
        .required(),
    number("communication_s", "The rest of the update, s.", at_least(0), "0.811753").required()};

// {METHOD: {"RANKS": speed}}. The number of ranks is a JSON key and thus a text; it must be a whole
// number, "32", not "032" or "+32".
inline constexpr std::array kMeasuredSpeed{
    number("samples_per_s_per_gpu", "Samples per second and GPU.", above(0), "104.2").plain()};
inline constexpr std::array kMeasuredByRanks{map("samples_per_s_per_gpu", kMeasuredSpeed,
                                                 "Speeds by the number of ranks.",
                                                 R"({"4": 104.2})")
                                                 .named_like("^[1-9][0-9]*$")
                                                 .sizes(1)};

inline constexpr std::array kMeasuredModelKeys{
    text("name", "Name of the network, which is that of its layer table in models/ if it has one.",
         R"("vgg16_cifar")")
        .required(),
    integer("parameters", "Number of parameters. Null means that the source does not say.",
            at_least(1), "14728266")
        .nullable(),
    integer("batch_size", "Samples per GPU and update. Null means that the source does not say.",
            at_least(1), "128")
        .nullable(),
    text("note", "A remark for readers of the file.", R"("fp32")").by_default(""),
    object(
        "phases", kMeasuredPhasesKeys, "Where the time of one update went.",
        R"({"ranks": 32, "method": "gtopk_tree", "compute_s": 0.139536, "compress_s": 0.091353, "communication_s": 0.811753})")
        .nullable(),
    map("samples_per_s_per_gpu", kMeasuredByRanks,
        "Samples per second and GPU by compression method, then by the number of ranks. The method "
        "none is dense training.",
        R"({"none": {"1": 1317.333, "4": 104.2}, "topk": {"4": 110.576}})")
        .named(collectives::compression_names)
        .required()};
inline constexpr std::array kMeasuredModel{
    object("models", kMeasuredModelKeys, "Measurements of one network.")};

inline constexpr std::array kMeasuredKeys{
    text("kind", "Kind of the file.").required(),
    text("name", "Name shown in tables.", R"("my-cluster")").required(),
    text("source", "Where the numbers come from.", R"("our own runs, 2026-01-31")").required(),
    text("note", "A remark for readers of the file.", R"("images per second and GPU")")
        .by_default(""),
    list(
        "models", kMeasuredModel, "Measurements of each network.",
        R"([{"name": "vgg16_cifar", "batch_size": 128, "samples_per_s_per_gpu": {"none": {"1": 1317.333, "4": 104.2}}}])")
        .sizes(1)
        .required()};

inline constexpr Key kMeasured =
    object("measured_training", kMeasuredKeys,
           "Measured training speeds, to compare with what the simulator predicts.");

[[nodiscard]] FileKind measured_file();

} // namespace stepsim::io::keys
