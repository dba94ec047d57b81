#!/bin/sh
# run_mpi.sh P COMMAND...: P local processes; 77 without mpirun.
command -v mpirun > /dev/null || { echo "mpirun is missing"; exit 77; }
ranks=$1
shift
root=
[ "$(id -u)" -eq 0 ] && root=--allow-run-as-root
exec mpirun $root --oversubscribe --bind-to none -np "$ranks" "$@"
