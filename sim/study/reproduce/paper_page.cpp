#include "study/reproduce/paper_page.hpp"

#include "base/collected.hpp"
#include "base/shell_word.hpp"

namespace stepsim::reproduce {

namespace {

// The command, or of several the first, with a remark how the others differ from it.
std::string command_of(const Run& run) {
  std::vector<std::string> words = run.argv;
  std::size_t combinations = 1;
  std::string varied;
  for (const std::vector<Choice>& list : run.vary) {
    words.insert(words.end(), list.front().words.begin(), list.front().words.end());
    combinations *= list.size();
    for (const auto& [name, value] : list.front().columns) {
      varied += (varied.empty() ? "" : ", ") + name;
    }
  }
  if (run.seeds > 0) {
    words.insert(words.end(), {"--seed", "1"});
  }
  std::string text = "stepsim " + base::listed(words, base::quoted_word, " ") + "\n";
  if (combinations > 1) {
    text += "# the first of " + std::to_string(combinations) + " that differ in " + varied + "\n";
  }
  if (run.seeds > 0) {
    text += "# each with several seeds; numbers are medians over them\n";
  }
  return text;
}

std::string commands_of(const FigureOf& figure, const Reproduction& paper) {
  std::string text;
  std::string slow;
  for (const std::string& id : figure.runs) {
    const auto run = std::ranges::find(paper.runs, id, &Run::id);
    text += command_of(*run);
    if (run->slow) {
      slow += (slow.empty() ? "" : " and ") + ("`" + run->stored + "`");
    }
  }
  if (!slow.empty()) {
    slow = "These commands take minutes; with `--quick` their records come from " + slow +
           ", which a run without it wrote.\n\n";
  }
  return text.empty() ? "" : "```\n" + text + "```\n\n" + slow;
}

std::string section(std::string_view title, const std::vector<std::string>& sentences) {
  const auto entry = [](const std::string& sentence) { return "- " + sentence + "\n"; };
  return sentences.empty()
             ? ""
             : "## " + std::string(title) + "\n\n" + base::listed(sentences, entry, "") + "\n";
}

Row claim_row(const Decided& each) {
  const Claim& claim = *each.claim;
  return {claim.text,
          ours_text(each),
          theirs_text(claim),
          std::string(kLabels[claim.label]),
          limits_text(claim),
          "**" + verdict_text(each) + "**" +
              (claim.reason.empty() ? "" : ": " + reason_text(each))};
}

const Row kClaimHeading{"claim", "ours", "theirs", "label", "met where", "verdict"};

// Points alone have a table where they are few; rows of their own say more of many.
bool few_reported(const PanelOf& panel, const Reproduced& all) {
  constexpr std::size_t kFew = 12;
  const std::size_t points = base::sum_of<std::size_t>(
      panel.reported, [&](const Curve& curve) { return select(curve.series, all).size(); });
  return points > 0 && points <= kFew;
}

std::string figure_text(const FigureOf& figure, const Reproduced& all, std::string_view images) {
  std::string text = "## " + figure.id + ": " + figure.question + "\n\n";
  if (!figure.not_drawn.empty()) {
    text += figure.not_drawn + "\n\n";
  } else {
    text += "![" + figure.question + "](" + std::string(images) + figure.id + ".svg)\n\n";
    const plot::Figure drawn = drawing(figure, all);
    for (std::size_t i = 0; i < figure.panels.size(); ++i) {
      const PanelOf& panel = figure.panels[i];
      if (!panel.curves.empty() || few_reported(panel, all)) {
        text += curve_table(drawn.panels[i], figure);
      }
      if (!drawn.panels[i].bars.groups.empty()) {
        text += bar_table(panel, drawn.panels[i], figure, all.paper);
      }
      if (!drawn.panels[i].lanes.lanes.empty()) {
        const std::string& title = drawn.panels[i].title;
        text += title.empty() ? "" : title + ":\n\n";
        text += lane_table(drawn.panels[i]);
      }
    }
  }
  text += base::listed(
      figure.comparisons, [&](const auto& each) { return comparison_table(each, all); }, "");
  text += base::listed(
      figure.tables, [&](const auto& each) { return record_table(each, all); }, "");
  text += commands_of(figure, all.paper);
  const std::vector<Row> rows = base::collected_if<Row>(
      all.decided, [&](const Decided& each) { return each.claim->figure == figure.id; },
      [](const Decided& each) { return claim_row(each); });
  if (!rows.empty()) {
    text += markdown_table(kClaimHeading, rows);
  }
  return text + (figure.note.empty() ? "" : figure.note + "\n\n");
}

std::string sources_of(const Reproduction& paper) {
  std::vector<Row> rows;
  for (const Table& table : paper.tables) {
    rows.push_back(
        {table.id, table.label ? std::string(kLabels[*table.label]) : "our own", table.source});
  }
  for (const Claim& claim : paper.claims) {
    rows.push_back({claim.id, std::string(kLabels[claim.label]), claim.source});
  }
  return rows.empty()
             ? ""
             : "## Sources\n\n" + markdown_table({"numbers or claim", "label", "source"}, rows);
}

} // namespace

std::string paper_page(const Reproduced& all, std::string_view images) {
  const Reproduction& paper = all.paper;
  std::string text = "# " + paper.title + "\n\n" + paper.citation + "\n\n";
  for (const std::string& sentence : paper.first) {
    text += sentence + "\n";
  }
  text += "\nThis page is written by `stepsim reproduce " + paper.name +
          "`: " + counts_text(counts_of(all)) + ".\n\n";
  text += base::listed(
      paper.figures, [&](const FigureOf& figure) { return figure_text(figure, all, images); }, "");
  text += section("What is assumed", paper.assumed);
  text += section("What we could not read", paper.unreadable);
  text += section("Later papers", paper.successors);
  text += sources_of(paper);
  while (text.ends_with("\n\n")) {
    text.pop_back();
  }
  return text;
}

Counts counts_of(const Reproduced& all) {
  Counts counts;
  for (const FigureOf& figure : all.paper.figures) {
    counts.figures += figure.not_drawn.empty() ? 1 : 0;
  }
  for (const Decided& each : all.decided) {
    ++counts.claims[static_cast<std::size_t>(each.verdict)];
  }
  return counts;
}

Counts& Counts::operator+=(const Counts& more) {
  figures += more.figures;
  std::ranges::transform(claims, more.claims, claims.begin(), std::plus());
  return *this;
}

std::string counts_text(const Counts& counts) {
  std::size_t claims = 0;
  std::string text;
  for (std::size_t i = 0; i < counts.claims.size(); ++i) {
    claims += counts.claims[i];
    text += (i == 0 ? " claims: " : ", ") + std::to_string(counts.claims[i]) + " " +
            std::string(kVerdicts.all()[i]);
  }
  return std::to_string(counts.figures) + " figures, " + std::to_string(claims) + text;
}

std::vector<std::vector<std::string>> claim_rows(const std::vector<Decided>& decided) {
  std::vector<Row> rows;
  for (const Decided& each : decided) {
    rows.push_back({each.claim->figure, verdict_text(each), ours_text(each),
                    theirs_text(*each.claim), std::string(kLabels[each.claim->label]),
                    each.claim->text});
  }
  return rows;
}

std::string claims_page(const std::vector<Reproduced>& papers) {
  std::string text =
      "# Claims of the papers\n\n"
      "Every claim that stepsim was held against, as `stepsim reproduce all` decides "
      "it. A claim is bracketed where it holds only\nbecause an input that the paper does not give "
      "may take any value, and not comparable where an input of theirs is unknown\nor where "
      "stepsim does not compute what it speaks of. How a number got its label is\n"
      "explained in [the README of these pages](../../reproduce/README.md).\n\n";
  Counts sum;
  for (const Reproduced& each : papers) {
    const Counts counts = counts_of(each);
    sum += counts;
    text += "## [" + each.paper.title + "](" + each.paper.name + ".md)\n\n" + counts_text(counts) +
            ".\n\n";
    Row heading = kClaimHeading;
    heading.insert(heading.begin(), "figure");
    std::vector<Row> rows;
    for (const Decided& decided : each.decided) {
      Row& row = rows.emplace_back(claim_row(decided));
      row.insert(row.begin(), decided.claim->figure);
    }
    text += markdown_table(heading, rows);
  }
  return text + "Together: " + counts_text(sum) + ".\n";
}

} // namespace stepsim::reproduce
