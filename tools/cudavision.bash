# Completion of cudavision for bash: subcommands, options as --help lists them, files.
_cudavision() {
  local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]}
  if [ "$COMP_CWORD" = 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "roughness motion scenes denoise bundle monitor calibrate train devices info
      --help --version" -- "$word")
  elif [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(cudavision "$command" --help 2>/dev/null |
      grep -oE -- '--[a-z][a-z-]*' | sort -u)" -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}
complete -o filenames -F _cudavision cudavision
