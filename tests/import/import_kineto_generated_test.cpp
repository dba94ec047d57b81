// Random traces with a known answer (IO 18, items 1-4, 11).
#include <doctest/doctest.h>

#include "base/error.hpp"
#include "base/random.hpp"
#include "document/file.hpp"
#include "document/json_text.hpp"
#include "document/temporary_folder.hpp"
#include "import/kineto/import_kineto.hpp"
#include "import/kineto_generator.hpp"
#include "scenario/files/trace_file.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::io;
using stepsim::testing::within;

namespace {

KinetoGeneratorOptions random_options(std::uint64_t seed) {
  base::RandomStream random({seed, 0, 0, 0, 3});
  KinetoGeneratorOptions options;
  options.seed = seed;
  options.steps = static_cast<int>(random.integer(1, 4));
  options.layers = static_cast<int>(random.integer(1, 12));
  for (bool* flag :
       {&options.integer_stamps, &options.string_ids, &options.old_categories, &options.buckets,
        &options.shapes, &options.bare_array, &options.unrelated, &options.shuffled}) {
    *flag = random.uniform() < 0.5;
  }
  return options;
}

layers::Trace import_text(const TemporaryFolder& folder, const GeneratedTrace& generated,
                          KinetoOptions options = {}) {
  options.models = [&] { return std::span(&generated.table, 1); };
  return import_kineto_job({folder.put("t.json", generated.text)}, options).trace;
}

// Everything but where it came from.
std::string without_source(layers::Trace trace) {
  trace.source.reset();
  return pretty(to_json(trace));
}

void check_equal(Seconds found, Seconds expected) { CHECK(found.value == expected.value); }
void check_equal(std::optional<Seconds> found, std::optional<Seconds> expected) {
  REQUIRE(found.has_value() == expected.has_value());
  CHECK(found->value == expected->value);
}

void check_layers(const layers::Trace& found, const layers::Trace& expected, bool sizes_known) {
  REQUIRE(found.layers.size() == expected.layers.size());
  for (std::size_t l = 0; l < found.layers.size(); ++l) {
    CAPTURE(l);
    const layers::Layer& layer = found.layers[l];
    CHECK(layer.name == expected.layers[l].name);
    CHECK(layer.operation == expected.layers[l].operation);
    check_equal(layer.forward, expected.layers[l].forward);
    check_equal(layer.backward, expected.layers[l].backward);
    REQUIRE(layer.tensors.size() == expected.layers[l].tensors.size());
    std::int64_t bytes = 0;
    for (std::size_t t = 0; t < layer.tensors.size(); ++t) {
      const layers::Tensor& tensor = expected.layers[l].tensors[t];
      CHECK(layer.tensors[t].bucket == tensor.bucket);
      CHECK(layer.tensors[t].elements == (sizes_known ? tensor.elements : std::nullopt));
      bytes += tensor.bytes->value;
    }
    const bool known = sizes_known || layer.tensors.empty();
    CHECK(layer.gradient_bytes == (known ? std::optional(Bytes{bytes}) : std::nullopt));
  }
}

void check_steps(const layers::Trace& found, const layers::Trace& expected) {
  REQUIRE(found.steps.size() == expected.steps.size());
  for (std::size_t k = 0; k < found.steps.size(); ++k) {
    CAPTURE(k);
    CHECK(found.steps[k].name == expected.steps[k].name);
    CHECK(found.steps[k].used == expected.steps[k].used);
    for (const auto member :
         {&layers::MeasuredStep::wall, &layers::MeasuredStep::gpu_busy,
          &layers::MeasuredStep::compute_busy, &layers::MeasuredStep::exposed_communication,
          &layers::MeasuredStep::forward, &layers::MeasuredStep::backward,
          &layers::MeasuredStep::gradient_nodes, &layers::MeasuredStep::update,
          &layers::MeasuredStep::framework, &layers::MeasuredStep::input,
          &layers::MeasuredStep::other, &layers::MeasuredStep::communication}) {
      check_equal(found.steps[k].*member, expected.steps[k].*member);
    }
  }
}

void check_buckets(const layers::Trace& found, const layers::Trace& expected) {
  REQUIRE(found.buckets.size() == expected.buckets.size());
  std::int64_t sum = 0;
  for (std::size_t b = 0; b < found.buckets.size(); ++b) {
    CAPTURE(b);
    const layers::MeasuredBucket& bucket = found.buckets[b];
    CHECK(bucket.elements == expected.buckets[b].elements);
    CHECK(bucket.bytes == expected.buckets[b].bytes);
    CHECK(bucket.tensors == expected.buckets[b].tensors);
    CHECK(bucket.dtype == "float32");
    check_equal(bucket.min, expected.buckets[b].min);
    check_equal(bucket.median, expected.buckets[b].median);
    check_equal(bucket.max, expected.buckets[b].max);
    sum += bucket.bytes.value;
  }
  if (!found.buckets.empty()) { // sum of buckets = sum of layers
    std::int64_t layers = 0;
    for (const layers::Layer& layer : found.layers) {
      layers += layer.gradient_bytes.value_or(Bytes{0}).value;
    }
    CHECK(sum == layers);
  }
}

void check_found(const layers::Trace& found, const GeneratedTrace& generated,
                 const KinetoGeneratorOptions& options) {
  const layers::Trace& expected = generated.expected;
  check_layers(found, expected, options.shapes || options.buckets);
  check_steps(found, expected);
  check_buckets(found, expected);
  check_equal(found.update, expected.update);
  check_equal(found.input, expected.input);
  check_equal(found.framework, expected.framework);
  check_equal(found.other, expected.other);
  CHECK(found.device == expected.device);
  CHECK(found.ranks == expected.ranks);
  REQUIRE(found.checks);
  CHECK(found.checks->steps_used == expected.checks->steps_used);
  CHECK(found.checks->backward_nodes == expected.checks->backward_nodes);
  CHECK(found.checks->backward_matched == expected.checks->backward_matched);
  CHECK(found.checks->gradient_nodes == expected.checks->gradient_nodes);
  CHECK(found.checks->unattributed_fraction == expected.checks->unattributed_fraction);
  CHECK(found.collectives.size() == (options.buckets ? 1 : 0));
}

} // namespace

TEST_CASE(
    "kineto: 1000 generated traces import to exactly the generator's layers, times, buckets") {
  const TemporaryFolder folder;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    CAPTURE(seed);
    const KinetoGeneratorOptions options = random_options(seed);
    const GeneratedTrace generated = generate_kineto(options);
    const layers::Trace found = import_text(folder, generated);
    check_found(found, generated, options);
  }
}

TEST_CASE("kineto: the order of events and unrelated events change nothing") {
  const TemporaryFolder folder;
  for (std::uint64_t seed = 2001; seed <= 2150; ++seed) {
    CAPTURE(seed);
    KinetoGeneratorOptions options = random_options(seed);
    options.shuffled = options.unrelated = false;
    const std::string plain = without_source(import_text(folder, generate_kineto(options)));
    options.shuffled = true;
    CHECK(without_source(import_text(folder, generate_kineto(options))) == plain);
    options.unrelated = true;
    CHECK(without_source(import_text(folder, generate_kineto(options))) == plain);
  }
}

TEST_CASE("kineto: in every step the classes add up and the busy time is between its bounds") {
  const TemporaryFolder folder;
  for (std::uint64_t seed = 3001; seed <= 3100; ++seed) {
    CAPTURE(seed);
    const layers::Trace trace = import_text(folder, generate_kineto(random_options(seed)));
    for (const layers::MeasuredStep& step : trace.steps) {
      const double sum = (step.forward + step.backward + step.update + step.framework + step.input +
                          step.other + step.communication)
                             .value;
      CHECK(step.gpu_busy.value <= sum * (1 + 1e-12));
      CHECK(step.gradient_nodes.value <= step.backward.value);
      // compute busy + exposed = busy
      CHECK(step.compute_busy.value + step.exposed_communication.value ==
            within(step.gpu_busy.value, 1e-12));
    }
    if (trace.checks->steps_used == 1) { // one step: the median is the step
      Seconds forward;
      Seconds backward;
      for (const layers::Layer& layer : trace.layers) {
        forward += *layer.forward;
        backward += *layer.backward;
      }
      const layers::MeasuredStep& used = trace.steps.back();
      CHECK(forward.value == within(used.forward.value, 1e-12));
      CHECK(backward.value == within(used.backward.value, 1e-12));
    }
  }
}

TEST_CASE("kineto: a trace and its gzip import equally") {
  const TemporaryFolder folder;
  for (std::uint64_t seed = 4001; seed <= 4020; ++seed) {
    CAPTURE(seed);
    const GeneratedTrace generated = generate_kineto(random_options(seed));
    const std::string packed = folder.file("t.json.gz");
    write_file(packed, generated.text); // compressed by name
    KinetoOptions options;
    options.models = [&] { return std::span(&generated.table, 1); };
    CHECK(without_source(import_kineto_job({packed}, options).trace) ==
          without_source(import_text(folder, generated)));
  }
}

TEST_CASE("kineto: host, user and job names of the file appear nowhere in the result") {
  const TemporaryFolder folder;
  KinetoGeneratorOptions options;
  options.unrelated = true;
  const GeneratedTrace generated = generate_kineto(options);
  REQUIRE(generated.text.find("secret-") != std::string::npos);
  const std::string written = pretty(to_json(import_text(folder, generated)));
  CHECK(written.find("secret-") == std::string::npos);
}

TEST_CASE("kineto: two ranks give the median of their times and the smallest bucket times") {
  const TemporaryFolder folder;
  KinetoGeneratorOptions options;
  const GeneratedTrace generated = generate_kineto(options);
  const std::string file = folder.put("rank0.json", generated.text);
  KinetoOptions reading;
  reading.models = [&] { return std::span(&generated.table, 1); };
  const layers::Trace one = import_kineto_job({file}, reading).trace;
  CHECK_THROWS_WITH_AS(import_kineto_job({file, file}, reading).trace,
                       (file + ": rank 0 is there twice").c_str(), InputError);
  options.rank = 1;
  const std::string same = folder.put("rank1.json", generate_kineto(options).text);
  const layers::Trace two = import_kineto_job({file, same}, reading).trace;
  // Equal ranks: the same medians and minima, no spread, twice the steps.
  CHECK(two.layers[0].forward->value == one.layers[0].forward->value);
  CHECK(two.buckets[0].min->value == one.buckets[0].min->value);
  CHECK(two.checks->rank_spread == 0.0);
  CHECK_FALSE(one.checks->rank_spread.has_value());
  CHECK(two.steps.size() == 2 * one.steps.size());
  CHECK(two.source->files.size() == 2);

  options.seed = 2; // other layers
  const std::string other = folder.put("rank2.json", generate_kineto(options).text);
  CHECK_THROWS_WITH_AS(import_kineto_job({file, other}, reading).trace,
                       (other + ": layers differ from those of " + file).c_str(), InputError);
}

TEST_CASE("kineto: windows of a few events give the trace of all events at once") {
  const TemporaryFolder folder;
  int several = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    const GeneratedTrace generated = generate_kineto(random_options(seed));
    const auto result = [&](std::size_t most_events) {
      KinetoOptions options;
      options.most_events = most_events;
      try {
        return without_source(import_text(folder, generated, options));
      } catch (const InputError& error) {
        return std::string(error.what());
      }
    };
    const std::string expected = result(std::size_t{1} << 30);
    for (const std::size_t most : {std::size_t{1}, std::size_t{40}, std::size_t{200}}) {
      REQUIRE(result(most) == expected);
      several += static_cast<std::size_t>(generated.events) > most ? 1 : 0;
    }
  }
  CHECK(several > 300);
}

TEST_CASE("kineto generator: the text written step by step is that of the whole trace") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    KinetoGeneratorOptions options = random_options(seed);
    options.shuffled = false;
    const GeneratedTrace generated = generate_kineto(options);
    std::string text;
    CHECK(write_kineto(options, [&](std::string_view part) { text += part; }) == generated.events);
    CHECK(text == generated.text);
  }
}
