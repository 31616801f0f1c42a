import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const isUnit = ({ project }: TestSpecification) => Number(project.name === 'unit')

/** Runs the project `unit` before the others, and within a project the files that take longest before the others, for
 *  which Vitest's order stays. A fresh clone has no durations yet, and Vitest would begin with the largest files: a
 *  short one that takes minutes, begun last, leaves a worker idle. */
export const longestFirst = (longest: Set<string>) =>
  class extends BaseSequencer {
    override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
      const isLong = ({ moduleId }: TestSpecification) =>
        Number(longest.has(relative(this.ctx.config.root, moduleId)))
      const order = (a: TestSpecification, b: TestSpecification) =>
        isUnit(b) - isUnit(a) || a.project.name.localeCompare(b.project.name) || isLong(b) - isLong(a)
      return (await super.sort(files)).sort(order)
    }
  }
