import { z } from 'zod'
import { parse } from '../shared/input-types.ts'
import {
  type Examined,
  examine,
  examineDatabases,
  examineInvariants,
  type Finding,
  toCode,
} from './doctor.ts'

// Commands that examine the service. Their exit code is 0 if all is well, 1 if something needs a person, and
// 2 if something is broken.

const labels: Record<Finding['level'], string> = { ok: 'ok', attention: 'look', broken: 'BROKEN' }

const toText = (findings: Finding[]): string =>
  findings
    .map(({ check, level, text }) => `${labels[level].padEnd(7)} ${check.padEnd(11)} ${text}`)
    .join('\n')

const noArguments = z.strictObject({})

const report = (findings: Finding[]) => ({
  json: { code: toCode(findings), findings },
  text: toText(findings),
  code: toCode(findings),
})

function doctor(args: object) {
  parse(noArguments, args)
  return async (_open: unknown, examined: Examined) => report(await examine(examined))
}

function verify(args: object) {
  parse(noArguments, args)
  return async (_open: unknown, examined: Examined) =>
    report(await examineDatabases(examined, examineInvariants))
}

export const doctorCommands = { doctor, verify }
