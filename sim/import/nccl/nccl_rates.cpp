// Rates that NCCL assumes by generation, where dumps name the hardware only.
#include "import/nccl/nccl_rates.hpp"

namespace stepsim::io {

double pcie_rate(const PcieLink& link, double efficiency) {
  const double coded = link.speed_GTps <= 5 ? 8.0 / 10 : 128.0 / 130;
  return link.speed_GTps * 1e9 * static_cast<double>(link.lanes) * coded / 8 * efficiency;
}

double nvlink_rate(std::int64_t sm) {
  if (sm < 70) {
    return 18e9;
  }
  return sm >= 100 ? 40.1e9 : sm == 86 ? 12e9 : 20e9;
}

double xgmi_rate(std::string_view gcn) {
  constexpr std::string_view kPrefix = "gfx";
  const std::string_view digits = gcn.starts_with(kPrefix) ? gcn.substr(kPrefix.size()) : gcn;
  if (digits == "910" || digits.starts_with("90a")) { // RCCL once numbered gfx90a as 910
    return 36e9;
  }
  return digits.starts_with("94") || digits.starts_with("95") ? 48e9 : 24e9;
}

double cpu_rate(const NcclNode& cpu) {
  const std::int64_t family = cpu.family.value_or(0);
  const std::int64_t model = cpu.model.value_or(0);
  if (cpu.arch == "ppc64") {
    return 32e9;
  }
  if (cpu.vendor == "AuthenticAMD") { // 23 and below Zen 2, 25 Zen 3 and 4, 26 Zen 5
    const bool zen5 = family == 26 || family == 0xBF;
    const bool zen3 = family == 25 || family == 0xAF;
    return zen5 ? 32e9 : zen3 ? 24e9 : 16e9;
  }
  if (cpu.vendor == "GenuineIntel" && family == 6) {
    if (model >= 0xCF || (model >= 0xAD && model <= 0xAF)) { // Emerald, Granite Rapids
      return 40e9;
    }
    return model >= 0x8F ? 22e9 : model >= 0x55 ? 10e9 : 6e9; // Sapphire Rapids, Skylake
  }
  return 6e9;
}

} // namespace stepsim::io
