// All kinds of files in the order of their words, so that a list of them reads like an index.
#include "cli/text/key_text.hpp"

#include "cli/plot/rows_figure.hpp"
#include "cli/report/result_page.hpp"
#include "run/collective_keys.hpp"
#include "run/flows_keys.hpp"
#include "run/flows_run.hpp"
#include "run/result_file.hpp"
#include "scenario/files/keys/measured_keys.hpp"
#include "scenario/files/keys/profile_keys.hpp"
#include "scenario/files/keys/samples_keys.hpp"
#include "scenario/keys/problem_keys.hpp"
#include "scenario/program_keys.hpp"
#include "study/breakeven_keys.hpp"
#include "study/measured_steps_keys.hpp"
#include "study/reproduce/reproduction_keys.hpp"
#include "study/semantics_keys.hpp"

namespace stepsim::cli {

std::vector<io::FileKind> file_kinds() {
  return {study::keys::kBreakEvenFile,
          study::keys::conditions_file(),
          io::keys::cost_file(),
          study::explanation_kind(),
          study::keys::kFlowsFile,
          study::flows_result_kind(),
          io::keys::library_calibration_file(),
          io::keys::links_file(),
          study::keys::kMeasuredStepsFile,
          io::keys::measured_file(),
          io::keys::model_file(),
          io::keys::profile_file(),
          io::keys::node_preset_file(),
          io::keys::overlap_file(),
          plot_result_kind(),
          study::keys::sweep_record(),
          study::keys::problem_file(),
          study::keys::kProgramFile,
          report_records_kind(),
          report_result_kind(),
          reproduce::keys::kReproductionFile,
          study::result_kind(),
          io::keys::samples_file(),
          study::keys::scenario_file(),
          study::keys::kSemanticsFile,
          study::semantics_result_kind(),
          study::study_kind(),
          study::keys::sweep_file(),
          io::keys::topology_file(),
          io::keys::trace_file(),
          study::keys::collective_file()};
}

} // namespace stepsim::cli
