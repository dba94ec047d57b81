// stepsim plot FILE --x KEY --y KEY: records of a sweep or of collectives as a figure in SVG.
#include "cli/commands/commands.hpp"

#include <CLI/CLI.hpp>

#include "cli/plot/rows_figure.hpp"
#include "plot/svg.hpp"

namespace stepsim::cli {

namespace {

constexpr std::array kPlotFormats{Format::svg, Format::json};

constexpr CommandText kPlotText{
    "plot",
    "FILE --x KEY --y KEY",
    "Draws the records of a sweep, of collectives or of a comparison as a figure in SVG: a curve "
    "per\n"
    "value of --by, bars where --x holds words, a small panel each where --by has more than five\n"
    "values. A curve alone has the interval of its records as a band. The same file gives the "
    "same\n"
    "picture, byte for byte.",
    "stepsim plot nodes.csv --x nodes --y samples_per_s --ideal --knee -o nodes.svg\n"
    "stepsim plot out.jsonl --x nodes --y samples_per_s --by schedule -o schedules.svg\n"
    "stepsim plot out.jsonl --x nodes --y scaling_efficiency --where schedule=ddp -o ddp.svg\n"
    "stepsim plot bandwidths.jsonl --x bytes --y busbw_Bps --by algorithm -o busbw.svg",
    "Keys are those of the records: docs/file-formats.md and schemas/point.schema.json.",
    kPlotFormats,
};

struct PlotFlags {
  std::string file, x_scale, y_scale, band;
  std::vector<std::string> where, labels;
  PlotRequest request;
};

std::vector<KeyValue> key_values(const std::string& flag, const std::vector<std::string>& texts) {
  return base::collected<KeyValue>(texts, [&](const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw UsageError(flag + " " + base::shown_value(text) + ": must be NAME=TEXT");
    }
    return KeyValue{text.substr(0, equals), text.substr(equals + 1)};
  });
}

void add_plot_flags(CLI::App& app, PlotFlags& flags) {
  PlotRequest& request = flags.request;
  add_argument(app, "FILE", flags.file, "records: JSON Lines, CSV or JSON; - = standard input");
  add_value(app, "--x", request.x, "KEY", "key of the horizontal axis")->required();
  add_value(app, "--y", request.y, "KEY", "key of the vertical axis")->required();
  add_value(app, "--by", request.by, "KEY", "a curve per value of this key");
  add_value(app, "--where", flags.where, "KEY=VALUE", "only records with this value; repeatable")
      ->expected(1)
      ->take_all();
  add_value(app, "--band", flags.band, "KEY=VALUE",
            "records with this value as a band about the first curve, 5th to 95th percentile");
  app.add_flag("--ideal", request.ideal,
               "a line with every worker at the pace of one worker alone");
  app.add_flag("--knee", request.knee,
               "marks the largest x up to which every doubling gave at least 1.6 times the "
               "throughput of the first curve of each panel");
  add_value(app, "--x-scale", flags.x_scale, "WORD",
            "linear, log2 or log10; default by the values");
  add_value(app, "--y-scale", flags.y_scale, "WORD",
            "linear, log2 or log10; default by the values");
  app.option_defaults()->group("Words");
  add_value(app, "--title", request.title, "TEXT", "question or sentence above the picture");
  add_value(app, "--setting", request.setting, "TEXT",
            "grey line under it; default the scenario's name");
  add_value(app, "--x-title", request.x_title, "TEXT", "default from the key");
  add_value(app, "--y-title", request.y_title, "TEXT", "default from the key");
  add_value(app, "--band-label", request.band_label, "TEXT", "of the band in the legend");
  add_value(app, "--label", flags.labels, "VALUE=TEXT",
            "name of the curve of a value of --by; repeatable")
      ->expected(1)
      ->take_all();
}

} // namespace

int plot_records(const Invocation& invocation) {
  PlotFlags flags;
  CLI::App app;
  add_plot_flags(app, flags);
  Common common(app, kPlotText, invocation);
  PlotRequest& request = flags.request;
  read_word("--x-scale", flags.x_scale, plot::kScales, request.x_scale);
  read_word("--y-scale", flags.y_scale, plot::kScales, request.y_scale);
  request.where = key_values("--where", flags.where);
  request.labels = key_values("--label", flags.labels);
  if (!flags.band.empty()) {
    request.band = key_values("--band", {flags.band}).front();
    request.band_label = request.band_label.empty() ? "5th to 95th percentile" : request.band_label;
  }
  const PlotRows rows = read_plot_rows(io::read_text(flags.file), flags.file);
  const RowsFigure drawn = rows_figure(rows, request, flags.file);
  const std::string picture = plot::svg(drawn.figure); // also refuses what cannot be drawn
  write_document(common,
                 {.text = [&] { return picture; }, .tree = [&] { return plot_facts(drawn); }},
                 Format::svg);
  if (rows.failed > 0) {
    print_note(base::counted(rows.failed, "point") + " failed in " + flags.file + ", not drawn",
               common);
  }
  return kOk;
}

} // namespace stepsim::cli
