import { BaseSequencer, type TestSpecification } from 'vitest/node'

const isUnit = ({ project }: TestSpecification) => Number(project.name === 'unit')

/** Runs the project `unit` before the others. Vitest runs projects by their names, and within one the longest files first,
 *  or the largest ones where it has not met them yet. `unit` has few files and a long one, which would leave a worker idle
 *  at the end. */
export class UnitFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.sort((one, other) => isUnit(other) - isUnit(one))
  }
}
