// osier completion and osier man: what shells and man know of the command line, made from its description.
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "osier/simulation.hpp"

namespace osier::cli {

namespace {

struct OptionWords {
  std::vector<std::string> names;    ///< "--output", "-o"
  std::vector<std::string> choices;  ///< of its value
  std::string help, value;           ///< `value`: its name, empty for a flag
  bool takes_value = false, positional = false, repeats = false;
};

struct CommandWords {
  std::string name, help, footer;
  std::vector<OptionWords> options;
};

/// CLI11 writes the choices of a value as "{a,b,c}" into its type.
std::vector<std::string> choices_in(const std::string& type) {
  std::vector<std::string> list;
  const std::size_t open = type.find('{'), close = type.find('}', open == std::string::npos ? 0 : open);
  if (open == std::string::npos || close == std::string::npos) return list;
  for (std::size_t at = open + 1; at < close;) {
    const std::size_t end = std::min(type.find(',', at), close);
    list.push_back(type.substr(at, end - at));
    at = end + 1;
  }
  return list;
}

CommandWords words_of(const CLI::App& app) {
  CommandWords words{.name = app.get_name(), .help = app.get_description(), .footer = app.get_footer(), .options = {}};
  for (const CLI::Option* option : app.get_options()) {
    OptionWords o;
    o.positional = option->nonpositional() == false;
    for (const std::string& name : option->get_lnames()) o.names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) o.names.push_back("-" + name);
    o.help = option->get_description();
    o.takes_value = option->get_items_expected_max() > 0 && option->get_type_size() > 0;
    o.repeats = option->get_items_expected_max() > 1;
    o.choices = choices_in(option->get_type_name());
    if (o.positional) o.value = option->get_name(true);
    else if (o.takes_value) o.value = o.choices.empty() ? "VALUE" : "WORD";
    words.options.push_back(std::move(o));
  }
  return words;
}

std::vector<CommandWords> commands_of(const CLI::App& app) {
  std::vector<CommandWords> list;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) list.push_back(words_of(*sub));
  return list;
}

std::string joined(const std::vector<std::string>& words, const char* between = " ") {
  std::string text;
  for (const std::string& w : words) text += (text.empty() ? "" : between) + w;
  return text;
}

/// Within single quotes of a shell.
std::string in_quotes(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string bash_script(const std::vector<CommandWords>& commands) {
  std::string names, cases;
  for (const CommandWords& c : commands) {
    names += (names.empty() ? "" : " ") + c.name;
    std::string options, values;
    for (const OptionWords& o : c.options) {
      if (o.positional) continue;
      options += (options.empty() ? "" : " ") + joined(o.names);
      if (!o.takes_value) continue;
      values +=
          fmt::format("        {}) {}; return ;;\n", joined(o.names, "|"),
                      o.choices.empty() ? "COMPREPLY=($(compgen -f -- \"$word\"))"
                                        : fmt::format("COMPREPLY=($(compgen -W {} -- \"$word\"))", in_quotes(joined(o.choices))));
    }
    cases += fmt::format("    {})\n{}      options={} ;;\n", c.name,
                         values.empty() ? "" : "      case \"$before\" in\n" + values + "      esac\n", in_quotes(options));
  }
  return fmt::format(R"(# bash completion of osier: put it into ~/.local/share/bash-completion/completions/osier
_osier() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" options=
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W {} -- "$word"))
    return
  fi
  case "${{COMP_WORDS[1]}}" in
{}  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}}
complete -o filenames -F _osier osier
)",
                     in_quotes(names + " --help --version"), cases);
}

/// Colons and brackets mean something to _arguments.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char c : first_line(text)) {
    if (c == ':' || c == '[' || c == ']') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_script(const std::vector<CommandWords>& commands) {
  std::string names, cases;
  for (const CommandWords& c : commands) {
    names += "    " + in_quotes(c.name + ":" + zsh_text(c.help)) + "\n";
    cases += fmt::format("    {}) _arguments", c.name);
    for (const OptionWords& o : c.options) {
      if (o.positional) continue;
      const std::string value = !o.takes_value      ? ""
                                : o.choices.empty() ? ":" + o.value + ":_files"
                                                    : ":" + o.value + ":(" + joined(o.choices) + ")";
      for (const std::string& name : o.names)
        cases += " \\\n      " + in_quotes((o.repeats ? "*" : "") + name + "[" + zsh_text(o.help) + "]" + value);
    }
    cases += " \\\n      '*:file:_files' ;;\n";
  }
  return fmt::format(R"(#compdef osier
# zsh completion of osier: put it as _osier into a folder of $fpath
_osier() {{
  local -a commands
  commands=(
{}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
{}  esac
}}
_osier "$@"
)",
                     names, cases);
}

std::string fish_script(const std::vector<CommandWords>& commands) {
  std::string text = "# fish completion of osier: put it into ~/.config/fish/completions/osier.fish\n";
  for (const CommandWords& c : commands) {
    text += fmt::format("complete -c osier -n __fish_use_subcommand -f -a {} -d {}\n", c.name, in_quotes(first_line(c.help)));
    for (const OptionWords& o : c.options) {
      if (o.positional) continue;
      text += fmt::format("complete -c osier -n '__fish_seen_subcommand_from {}'", c.name);
      for (const std::string& name : o.names) text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (o.takes_value) text += o.choices.empty() ? " -r" : " -x -a " + in_quotes(joined(o.choices));
      text += " -d " + in_quotes(first_line(o.help)) + "\n";
    }
  }
  return text;
}

/// Backslashes, hyphens and a dot at the start of a line mean something to roff.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if ((out.empty() || out.back() == '\n') && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') out += "\\e";
    else if (c == '-') out += "\\-";
    else out += c;
  }
  return out;
}

std::string man_page(const CLI::App& app, const std::vector<CommandWords>& commands) {
  std::string text = fmt::format(".TH OSIER 1 \"\" \"osier {}\" \"User Commands\"\n.SH NAME\nosier \\- {}\n", version(),
                                 "simulates slender things: hair, yarn, cables, ropes, trees, springs");
  text += ".SH SYNOPSIS\n.B osier\n.I command\n[\n.I arguments\n]\n.SH DESCRIPTION\n" + roff(app.get_description()) +
          "\n.SH COMMANDS\n";
  for (const CommandWords& c : commands) {
    text += ".SS osier " + roff(c.name);
    for (const OptionWords& o : c.options)
      if (o.positional) text += " " + roff(o.value);
    text += "\n" + roff(c.help) + "\n";
    for (const OptionWords& o : c.options) {
      if (o.positional && o.help.empty()) continue;
      text += ".TP\n.B " + roff(o.positional ? o.value : joined(o.names, ", "));
      if (!o.positional && o.takes_value) text += " " + roff(o.choices.empty() ? o.value : joined(o.choices, "|"));
      text += "\n" + roff(o.help) + "\n";
    }
    if (!c.footer.empty()) text += ".PP\n" + roff(c.footer) + "\n";
  }
  return text + ".SH EXIT STATUS\n0 done, 1 the run failed, 2 bad input.\n";
}

}  // namespace

Command add_completion(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  CLI::App* sub = app.add_subcommand("completion", "Print a script that completes command lines");
  sub->add_option("SHELL", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  return {sub, [&app, shell] {
            const std::vector<CommandWords> commands = commands_of(app);
            fmt::print("{}", *shell == "bash"  ? bash_script(commands)
                             : *shell == "zsh" ? zsh_script(commands)
                                               : fish_script(commands));
            return kDone;
          }};
}

Command add_man(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("man", "Print the manual page, for man(1)");
  return {sub, [&app] {
            fmt::print("{}", man_page(app, commands_of(app)));
            return kDone;
          }};
}

}  // namespace osier::cli
