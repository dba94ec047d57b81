// Damaged traces give a result or one clean error, never a crash or a hang (IO 18, item 10).
#include <doctest/doctest.h>

#include "base/error.hpp"
#include "base/random.hpp"
#include "document/file.hpp"
#include "document/temporary_folder.hpp"
#include "import/import_samples.hpp"
#include "import/kineto/import_kineto.hpp"
#include "import/kineto_generator.hpp"

using namespace stepsim;
using namespace stepsim::io;

namespace {

// 1 for a trace, 0 for an error that names the file; anything else escapes.
int import_or_refuse(const std::string& file) {
  try {
    const layers::Trace trace = import_kineto_job({file}, {}).trace;
    CHECK_FALSE(trace.layers.empty());
    for (const layers::Layer& layer : trace.layers) {
      CHECK(layer.forward->value >= 0);
      CHECK(layer.backward->value >= 0);
    }
    return 1;
  } catch (const InputError& error) {
    CHECK(std::string(error.what()).starts_with(file));
    CHECK(error.problems().size() == 1);
    return 0;
  }
}

std::size_t place_in(base::RandomStream& random, const std::string& text) {
  return static_cast<std::size_t>(random.integer(0, std::ssize(text) - 1));
}

// Removes one `"key": value` with its comma, if the value is a scalar.
std::string without_a_key(const std::string& text, base::RandomStream& random) {
  const std::size_t colon = text.find("\": ", place_in(random, text));
  if (colon == std::string::npos) {
    return text;
  }
  const std::size_t begin = text.rfind('"', colon - 1);
  const std::size_t end = text.find_first_of(",}", colon);
  const std::size_t next = text[end] == ',' ? end + 2 : end;
  return text.substr(0, begin) + text.substr(std::min(next, text.size()));
}

std::string mutated(std::string text, base::RandomStream& random) {
  switch (random.integer(0, 3)) {
  case 0:
    text[place_in(random, text)] ^= static_cast<char>(1 << random.integer(0, 7));
    return text;
  case 1:
    return text.substr(0, place_in(random, text));
  case 2:
    return without_a_key(text, random);
  default: // a digit becomes another one: ids, times and numbers change
    const std::size_t digit = text.find_first_of("0123456789", place_in(random, text));
    if (digit != std::string::npos) {
      text[digit] = static_cast<char>('0' + random.integer(0, 9));
    }
    return text;
  }
}

} // namespace

TEST_CASE("kineto: damaged generated traces give a result or a clean error") {
  const TemporaryFolder folder;
  int results = 0;
  constexpr int kTrials = 1500;
  for (int trial = 0; trial < kTrials; ++trial) {
    CAPTURE(trial);
    base::RandomStream random({77, static_cast<std::uint64_t>(trial), 0, 0, 0});
    KinetoGeneratorOptions options;
    options.seed = static_cast<std::uint64_t>(trial) % 10;
    options.steps = 2;
    options.layers = 3;
    options.shapes = trial % 2 == 0;
    std::string text = generate_kineto(options).text;
    for (std::int64_t n = random.integer(1, 3); n > 0 && !text.empty(); --n) {
      text = mutated(std::move(text), random);
    }
    results += import_or_refuse(folder.put("t.json", text));
  }
  CHECK(results > kTrials / 10); // the test reaches the stages behind the parser
  CHECK(results < kTrials);
}

TEST_CASE("kineto: damaged real traces give a result or a clean error") {
  const TemporaryFolder folder;
  struct Sample {
    const char* name;
    int trials;
  };
  for (const Sample& each :
       {Sample{"mi250_minitoy_rocm.json.gz", 100}, Sample{"hta_backward_thread.json", 100},
        Sample{"alexnet_a100.json.gz", 40}, Sample{"resnet50_ddp_2xA100_nccl_meta.json.gz", 6}}) {
    const std::string file = sample(std::string("kineto/") + each.name);
    if (absent(file)) {
      return;
    }
    const std::string text = read_text(file);
    for (int trial = 0; trial < each.trials; ++trial) {
      CAPTURE(each.name);
      CAPTURE(trial);
      base::RandomStream random({78, static_cast<std::uint64_t>(trial), 0, 0, 0});
      (void)import_or_refuse(folder.put("t.json", mutated(text, random)));
    }
  }
}

TEST_CASE("kineto: damaged gzip files give a result or a clean error") {
  const TemporaryFolder folder;
  const std::string packed = folder.file("t.json.gz");
  write_file(packed, generate_kineto({}).text);
  std::string bytes;
  {
    std::ifstream in(packed, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  for (int trial = 0; trial < 300; ++trial) {
    CAPTURE(trial);
    base::RandomStream random({79, static_cast<std::uint64_t>(trial), 0, 0, 0});
    std::string damaged = bytes;
    if (random.uniform() < 0.5) {
      damaged[place_in(random, damaged)] ^= static_cast<char>(1 << random.integer(0, 7));
    } else {
      damaged.resize(place_in(random, damaged));
    }
    (void)import_or_refuse(folder.put("t.json.gz", damaged));
  }
}
