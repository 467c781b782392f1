// Apollo Server 5, in Express
// packages: @apollo/server, @as-integrations/express5
import { createServer } from 'node:http'
import { ApolloServer } from '@apollo/server'
import { ApolloServerPluginDrainHttpServer } from '@apollo/server/plugin/drainHttpServer'
import { expressMiddleware } from '@as-integrations/express5'
import express from 'express'
import { attachLifecycle } from 'quiesce'

const app = express()
const http = createServer(app)
const apollo = new ApolloServer({
  typeDefs: 'type Query { slow: String }',
  resolvers: { Query: { slow: () => new Promise((resolve) => setTimeout(resolve, 1000, 'done')) } },
  plugins: [ApolloServerPluginDrainHttpServer({ httpServer: http })],
  // Its own listeners would stop it before the requests that are under way have been answered.
  stopOnTerminationSignals: false,
})
await apollo.start()
app.use('/graphql', express.json(), expressMiddleware(apollo))
// What is asked for is `/`, which asks the API: with a GET, as Apollo allows for queries.
app.get('/', async (_, response) => {
  const { data } = (await apollo.executeOperation({ query: '{ slow }' })).body.singleResult
  response.send(data.slow)
})
const life = attachLifecycle(http, { deadline: '8s' })
life.addDestroy('apollo', () => apollo.stop())
http.listen(0, '127.0.0.1', () => console.log(`PORT ${http.address().port}`))
await life.run()
