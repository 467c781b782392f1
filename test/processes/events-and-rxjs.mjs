// Events of a life by operators of the rxjs that is installed, of which quiesce has a class of its
// own inside.
import { concat, filter, firstValueFrom, from, map, merge, of, take, toArray } from 'rxjs'
import { createLife } from '../../dist/index.js'

const life = createLife({ logger: false })
const signals$ = life.events$.pipe(
  filter(({ type }) => type === 'signal'),
  map(({ name }) => name),
)
const seen = firstValueFrom(merge(concat(of('begun'), from(signals$)), signals$).pipe(take(5), toArray()))
await life.start()
await life.stop('done')
console.log(JSON.stringify(await seen))
