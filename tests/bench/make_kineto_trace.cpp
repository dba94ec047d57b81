// Writes a synthetic profiler trace of a given size: make_kineto_trace OUT.json[.gz] [MEGABYTES].
// Default 54 MB, seed 1; the same call
// gives the same bytes. Traces of gigabytes take little memory.
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string_view>

#include "document/file.hpp"
#include "import/kineto_generator.hpp"

int main(int count, char** arguments) {
  using namespace stepsim::io;
  if (count < 2 || count > 3) {
    std::cerr << "usage: make_kineto_trace OUT.json[.gz] [MEGABYTES]\n";
    return 2;
  }
  try {
    const double bytes = 1e6 * (count == 3 ? std::atof(arguments[2]) : 54.0);
    KinetoGeneratorOptions options;
    options.layers = 160;
    options.unrelated = true;
    options.steps = 1;
    const auto per_step = static_cast<double>(generate_kineto(options).text.size());
    options.steps = static_cast<int>(bytes / per_step) + 1;
    OutputFile file(arguments[1]);
    std::uint64_t written = 0;
    const std::int64_t events = write_kineto(options, [&](std::string_view text) {
      file.write(text);
      written += text.size();
    });
    file.commit();
    std::cout << arguments[1] << ": " << events << " events, " << written << " bytes, "
              << options.steps << " steps\n";
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
