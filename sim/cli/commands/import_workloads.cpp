#include "cli/commands/imported.hpp"

#include "cli/shell/flag_values.hpp"
#include "import/chakra/import_chakra.hpp"
#include "import/import_astra_text.hpp"

namespace stepsim::cli {

Imported imported_chakra(const std::string& file, const ImportFlags& flags,
                         const std::string& target) {
  const auto ranks = ranks_of(flags);
  if (target.ends_with(".samples.json") || target.ends_with(".samples.csv")) {
    return imported_samples(io::chakra_samples(file, common_options(flags), ranks));
  }
  io::ChakraOptions options{common_options(flags), std::nullopt};
  if (!flags.dtype.empty()) {
    options.dtype = dtype_flag(flags.dtype);
  }
  io::ChakraImport imported = io::import_chakra(file, options);
  if (!imported.remedy.empty() && !flags.allow_unknown_sizes) {
    throw InputError(file, "", imported.remedy);
  }
  if (!flags.allow_unknown_sizes) {
    require_gradients(imported.trace, file);
  }
  imported.trace.ranks = ranks ? ranks : imported.trace.ranks;
  Imported result = imported_trace(imported.trace);
  result.last_line = imported.found + "\n";
  return result;
}

void require_gradients(const layers::Trace& trace, const std::string& file) {
  if (std::ranges::none_of(trace.layers, [](const layers::Layer& layer) {
        return layer.gradient_bytes.value_or(Bytes{0}).value > 0;
      })) {
    throw InputError(file, "",
                     "no layer reduces a gradient, so there is no communication to simulate "
                     "(--allow-unknown-sizes writes the times alone)");
  }
}

Imported imported_astra_text(const std::string& file, const ImportFlags& flags) {
  io::AstraTextOptions options;
  options.common = common_options(flags);
  options.drop_other_communication = flags.drop_other_communication;
  if (!flags.tick.empty()) {
    options.tick = Seconds{quantity("--tick", flags.tick, base::QuantityKind::time, io::above(0))};
    options.tick_given = true;
  }
  const layers::Trace trace = io::import_astra_text(file, options);
  if (!flags.drop_other_communication && !flags.allow_unknown_sizes) {
    require_gradients(trace, file);
  }
  return imported_trace(trace);
}

} // namespace stepsim::cli
