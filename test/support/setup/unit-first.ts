import { BaseSequencer, type TestSpecification } from 'vitest/node'

const isUnit = ({ project }: TestSpecification) => Number(project.name === 'unit')

/** Runs the project `unit` before the others. Vitest orders projects by name, and files within one by
 *  duration, or by size if it has no duration yet. `unit` has few files and a long one, which would leave a
 *  worker idle at the end. */
export class UnitFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.sort((a, b) => isUnit(b) - isUnit(a))
  }
}
