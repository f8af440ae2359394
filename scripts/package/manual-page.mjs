// remexec(1): what `remexec --help` prints, with the files of the Debian package.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

const escaped = (text) =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1')

export const manualPage = ({ version, dist }) => {
  const help = execFileSync(process.execPath, [join(dist, 'cli.js'), '--help'], { encoding: 'utf8' })
  // The last line has the path of the documents in this build.
  const shown = help.replaceAll(join(dist, '../'), '/usr/lib/remexec/')
  return `.TH REMEXEC 1 "" "remexec ${version}" "User Commands"
.SH NAME
remexec \\- build cache and remote execution server
.SH SYNOPSIS
.nf
${escaped(shown.trimEnd())}
.fi
.SH FILES
.TP
.I /etc/remexec/remexec.json5
The configuration of remexec.service. \\fBremexec validate\\fR checks it.
.TP
.I /etc/default/remexec
Variables for the service, such as REMEXEC_HOST.
.TP
.I /var/lib/remexec
All data of the service.
.TP
.I /usr/lib/remexec/docs
The documentation.
.SH EXIT STATUS
0 after success, 1 after a failure, 2 after wrong usage, and 128 plus the number of a signal.
`
}
