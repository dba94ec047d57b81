#pragma once
// Reads the files that may stand beside a profiler trace and say how large its gradients or buckets
// are (INP 1.5). Of every file, `file` is its path or "<stdin>", for error messages.

#include "import/kineto/kineto_events.hpp"
#include "scenario/files/import_source.hpp"

namespace stepsim::io {

// Reads the table of `import --sizes`, `name,elements[,dtype]` (INP 1.5): one row per tensor, in
// the order in which the model registers its parameters or in which gradients become ready. A dtype
// is a word of PyTorch ("bfloat16", "c10::BFloat16").
struct NamedSize {
  std::string name;
  std::int64_t elements{};
  std::string dtype; // in stepsim's words; empty = not given
};

struct SizeTable {
  std::string file;
  layers::SourceFile source;
  std::vector<NamedSize> rows; // at least one
};

// Throws InputError for unknown or missing columns, wrong numbers, unknown dtypes and a table
// without rows: `sizes.csv:3: elements: must be a whole number >= 1, got 12x`.
[[nodiscard]] SizeTable read_size_table(const std::string& path, std::uint64_t max_bytes);

// Reads the buckets of DistributedDataParallel from the output of `model._get_ddp_logging_data()`,
// printed as a Python dictionary or written as JSON (INP 1.5): sizes in bytes in launch order, and
// the positions of the parameters in each bucket.
struct DdpLog {
  std::string file;
  layers::SourceFile source;
  std::vector<std::int64_t> bucket_bytes; // at least one
  // [bucket] positions of its parameters in registration order, from 0; empty = not reported
  std::vector<std::vector<std::int64_t>> parameters;
  // The same positions in the order in which gradients became ready; empty = not reported.
  std::vector<std::int64_t> ready_order;
};

// Takes the values of the rebuilt buckets if there are any, else those of the first iteration. A
// list without brackets ends with its line, quotes or dictionary. Throws InputError if there are no
// bucket sizes, if a list has anything but whole numbers, if a value is above 2^53, or if there are
// positions, but not of as many buckets as sizes.
[[nodiscard]] DdpLog read_ddp_log(const std::string& path, std::uint64_t max_bytes);

// Sizes of buckets from PyTorch's flight recorder (INP 2): its dump, as JSON, lists the latest
// collectives of a rank with the shapes of their inputs. Of its times only those of the calls are
// read, which tell steps apart; start and end come from a thread that polls.
struct FlightRecord {
  struct AllReduce {
    std::int64_t elements{};
    std::string dtype;         // "Float", as PyTorch names it
    std::int64_t created_ns{}; // when it was called, as recorded; 0 = not recorded
  };
  std::string file;
  layers::SourceFile source;
  std::vector<AllReduce> all_reduces; // in order of calls, at least one
};

// Throws InputError if the dump has no `entries` or no all-reduce, or if a shape is not a list of
// sizes.
[[nodiscard]] FlightRecord read_flight_record(const std::string& path, std::uint64_t max_bytes);

// The all-reduces of the last whole step of the record, where a step has `per_step` all-reduces. A
// step begins at the place with the longest pause between calls before it (median over the steps),
// the first of several. Throws InputError if this step differs from the one before, if the record
// is shorter than two steps, or if a call has no time.
[[nodiscard]] std::vector<FlightRecord::AllReduce> step_of(const FlightRecord& record,
                                                           std::size_t per_step);

// Reads PyTorch execution traces (IO 5, INP 1.5): the operators of a job without times, from which
// the gradients of one iteration follow in the order in which they become ready. Schemas 1.0.1 to
// 1.1.x differ in the place of the input shapes, and in whether these are lists or lists as text.
struct ExecutionTrace {
  std::string file;
  layers::SourceFile source;
  // [iteration] inputs of the nodes torch::autograd::AccumulateGrad in the order of their ids,
  // separated by the weight updates. `elements` 0 = the gradient was not defined.
  std::vector<std::vector<KinetoTensor>> iterations; // at least one, none is empty

  // The gradients of one iteration: the first iteration if there are several and all are equal;
  // else, if the number of gradient nodes of a step is known and the list of all gradients consists
  // of equal parts of this length, one part; else all gradients.
  [[nodiscard]] std::vector<KinetoTensor> one_iteration(std::optional<std::size_t> nodes) const;
};

// Throws InputError if the file cannot be read, has more than `max_bytes` bytes after inflation, is
// not JSON, has no `nodes` or no gradient nodes, or has another schema.
[[nodiscard]] ExecutionTrace read_execution_trace(const std::string& path, std::uint64_t max_bytes);

// The gradients of one iteration as a trace without times, one layer per gradient: `gradient_k` is
// the k-th one to become ready. Undefined gradients are left out with a warning. Throws InputError
// as read_execution_trace() does, and if no gradient is defined.
[[nodiscard]] layers::Trace trace_of_sizes(const std::string& path, const ImportOptions& options);

} // namespace stepsim::io
