// Fails when: a life of the second quarter is not as random-lives.ts says that it has to be.
import { randomLives } from './random-lives.ts'

randomLives(2)
