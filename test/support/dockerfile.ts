import { readFileSync } from 'node:fs'

/** Folder of the repository, which is the context of the image. */
export const repository = new URL('../../', import.meta.url)

export const readFromRepository = (path: string): string => readFileSync(new URL(path, repository), 'utf8')

export type Instruction = { name: string; flags: Record<string, string>; text: string }
export type Stage = { name: string; image: string; instructions: Instruction[] }

function parseInstruction(line: string): Instruction {
  const [, name = '', flags = '', text = ''] = /^(\w+)\s+((?:--\S+\s+)*)([\s\S]*)$/.exec(line) ?? []
  const named = [...flags.matchAll(/--([\w-]+)=(\S+)/g)].map(([, flag = '', value = '']) => [flag, value])
  return { name, flags: Object.fromEntries(named), text: text.trim() }
}

/** Splits a Dockerfile into its stages. */
export function parseDockerfile(text: string): Stage[] {
  const lines = text.replace(/^\s*#.*\n/gm, '').replace(/\\\n/g, '')
  const stages: Stage[] = []
  for (const line of lines.split('\n').filter((line) => line.trim() !== '')) {
    const instruction = parseInstruction(line)
    const [image = '', , name = ''] = instruction.text.split(/\s+/)
    if (instruction.name === 'FROM') stages.push({ name, image, instructions: [] })
    else stages.at(-1)?.instructions.push(instruction)
  }
  return stages
}

/** Returns the texts of a stage's instructions of one kind. */
export const textsOf = ({ instructions }: Stage, kind: string): string[] =>
  instructions.filter(({ name }) => name === kind).map(({ text }) => text)

/** Environment variables that a stage sets. */
export const environmentOf = (stage: Stage): Record<string, string> =>
  Object.fromEntries(
    textsOf(stage, 'ENV').flatMap((text) =>
      [...text.matchAll(/(\w+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value]),
    ),
  )

/** Program and arguments of the last command of one kind, such as `CMD`, in its JSON form. */
export const commandOf = (stage: Stage, kind: 'CMD' | 'HEALTHCHECK'): string[] =>
  JSON.parse((textsOf(stage, kind).at(-1) ?? '').replace(/^CMD\s+/, '')) as string[]

/** Reports whether the image's context has a file or folder, by .dockerignore. */
export function isInContext(path: string): boolean {
  const lines = readFromRepository('.dockerignore').split('\n')
  return lines.includes('*') && lines.includes(`!${path}`)
}
