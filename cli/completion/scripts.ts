/** A script for each shell that asks `hw complete` for words. */
export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

const bash = `# bash completion of hw: source <(hw completion bash)
_hw() {
  local IFS=$'\\n'
  COMPREPLY=($(hw complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  if [[ \${#COMPREPLY[@]} -eq 0 ]]; then compopt -o default 2>/dev/null; fi
}
complete -F _hw hw
`;

const zsh = `#compdef hw
# zsh completion of hw: source <(hw completion zsh)
_hw() {
  local -a words_found
  words_found=("\${(@f)$(hw complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "\${words_found[1]}" ]]; then compadd -a words_found; else _files; fi
}
compdef _hw hw
`;

const fish = `# fish completion of hw: hw completion fish | source
function __hw_complete
  set -l tokens (commandline -opc) (commandline -ct)
  hw complete -- $tokens[2..-1] 2>/dev/null
end
complete -c hw -a '(__hw_complete)'
`;

export const completionScripts: Readonly<Record<Shell, string>> = { bash, zsh, fish };
